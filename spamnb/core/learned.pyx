# The messages that a model learned: the hash and label of each, and its score by the counts of all other mail.
#
# A hash table, with 24 bytes per message and 8 for its slots. In a training, copies of a message are recognised, so
# that only the first is learned.

from libc.math cimport NAN
from libc.stdint cimport int8_t

cpdef enum:
    NOT_LEARNED = -1  # in place of a label's index
    DUPLICATE_COPY = -2  # in place of the previous label: this training already had a copy, under the same label
    CONFLICTING_COPY = -3  # … under another label

cdef enum:
    FIRST_MESSAGES = 1 << 10
    LEARNED_BYTES = 17  # of a record in the model file's column "learned": hash, label, score, lead


cdef struct LearnedMessage:  # its size is a multiple of 64 bits, as `order_of` needs it
    uint64_t hash  # the hash of the message
    float score  # NaN if it was not computed
    float lead  # nats by which its label was ahead of the other labels but spam
    int8_t label
    bint has_copy  # whether this training had a copy of it


cdef class LearnedMessages:
    """The messages that a model learned or forgot: the hash of each, its label (or NOT_LEARNED), score and lead."""

    cdef LearnedMessage *items
    cdef uint32_t *slots  # 2 * room: place of a message + 1; 0: free
    cdef Size used, room
    cdef int shift

    def __dealloc__(self):
        free(self.items)
        free(self.slots)

    def __len__(self):
        cdef Size n, count = 0
        for n in range(self.used):
            count += self.items[n].label != NOT_LEARNED
        return count

    cdef int make_room(self, Size more) except -1:
        cdef Size room = max(self.room, <Size>FIRST_MESSAGES), n
        if self.used + more <= self.room:
            return 0
        while room < self.used + more:
            room *= 2
        if room > MAX_ROOM:
            raise OverflowError("one model cannot learn so many messages")
        self.items = <LearnedMessage *>memory_of(self.items, room * sizeof(LearnedMessage))
        free(self.slots)
        self.slots = NULL
        self.slots = <uint32_t *>memory_of(NULL, 2 * room * sizeof(uint32_t))
        memset(self.slots, 0, 2 * room * sizeof(uint32_t))
        self.room, self.shift = room, 63
        while <Size>1 << (64 - self.shift) < 2 * room:
            self.shift -= 1
        for n in range(self.used):
            self.slots[self.slot_of(self.items[n].hash)] = n + 1
        return 0

    cdef Size slot_of(self, uint64_t hash) noexcept nogil:
        """Return the slot of the message with this hash; if there is none, the free slot where it can be added."""
        cdef Size at = hash * TABLE_FACTOR >> self.shift, last = 2 * self.room - 1
        while self.slots[at] and self.items[self.slots[at] - 1].hash != hash:
            at = (at + 1) & last
        return at

    cdef LearnedMessage *item_of(self, uint64_t hash) noexcept nogil:
        """Return the message with this hash; NULL if there is none."""
        cdef Size place = self.slots[self.slot_of(hash)] if self.used else 0
        return &self.items[place - 1] if place else NULL

    cdef LearnedMessage *item_or_new(self, uint64_t hash) except NULL:
        """Return the message with this hash; if there is none, add one that is not learned."""
        cdef Size slot
        self.make_room(1)
        slot = self.slot_of(hash)
        if not self.slots[slot]:
            self.items[self.used] = LearnedMessage(hash, NAN, NAN, NOT_LEARNED, False)
            self.used += 1
            self.slots[slot] = self.used
        return &self.items[self.slots[slot] - 1]

    def set(self, uint64_t hash, int8_t label_index, double score=NAN, double lead=NAN):
        """Set the label, score and lead (how far the label is ahead of other labels) of the message with this hash."""
        cdef LearnedMessage *item = self.item_or_new(hash)
        item.label, item.score, item.lead = label_index, <float>score, <float>lead

    def label_index(self, uint64_t hash):
        """Return the index of the label of the message with this hash; NOT_LEARNED if it is not learned."""
        cdef LearnedMessage *item = self.item_of(hash)
        return item.label if item is not NULL else NOT_LEARNED

    def learn(self, hashes, int8_t label_index):
        """Learn the messages with these hashes under a label, or forget them (NOT_LEARNED).

        Return an array of 8-bit numbers: the index of each message's label before. A second copy of a message
        in the same training is skipped, and gets DUPLICATE_COPY or CONFLICTING_COPY. A message whose label
        changes loses its score.
        """
        cdef Numbers given = Numbers(hashes, sizeof(uint64_t))
        cdef Column before = new_column(given.count)
        cdef int8_t *found = <int8_t *>before.at
        cdef LearnedMessage *item
        cdef Size n, start = self.used
        for n in range(given.count):
            item = self.item_or_new((<uint64_t *>given.at)[n])
            if item.has_copy:  # all these messages have one label
                found[n] = DUPLICATE_COPY if item.label == label_index else CONFLICTING_COPY
                continue
            found[n] = item.label
            if item.label != label_index:
                item.score = item.lead = NAN
            item.label, item.has_copy = label_index, True
        return before

    def relabel(self, list indices not None):
        """Replace the label index k of each learned message by `indices[k]`."""
        cdef Size n
        cdef int8_t *label
        for n in range(self.used):
            label = &self.items[n].label
            if label[0] != NOT_LEARNED:
                label[0] = indices[label[0]]

    def forget_scores(self, int8_t label_index):
        """Remove the scores of all messages with this label."""
        cdef Size n
        for n in range(self.used):
            if self.items[n].label == label_index:
                self.items[n].score = self.items[n].lead = NAN

    def message_counts(self, int label_count):
        """Return the number of messages of each label."""
        cdef list counts = [0] * label_count
        cdef Size n
        for n in range(self.used):
            if self.items[n].label != NOT_LEARNED:
                counts[self.items[n].label] += 1
        return counts

    # Records of a model file

    def add_records(self, bytes records not None, int label_count):
        """Fill this empty object from records of a model file; return False if order or labels are wrong."""
        cdef Text data = text_of(records)
        cdef Size n, count = data.size // LEARNED_BYTES
        cdef const Byte *at = data.at
        cdef uint64_t hash, last = 0
        self.make_room(count)
        for n in range(count):
            hash = eight_at(at)
            if (n and hash <= last) or at[8] >= label_count:
                return False
            self.items[n].hash = last = hash
            self.items[n].label, self.items[n].has_copy = at[8], False
            self.items[n].score, self.items[n].lead = float_at(at + 9), float_at(at + 13)
            self.slots[self.slot_of(hash)] = n + 1
            self.used += 1
            at += LEARNED_BYTES
        return True

    def records(self):
        """Return the records of all messages as bytes for a model file, sorted by hash."""
        cdef uint64_t *order = self.order()
        cdef bytes records = PyBytes_FromStringAndSize(NULL, LEARNED_BYTES * len(self))
        cdef Byte *to = <Byte *>PyBytes_AS_STRING(records)
        cdef LearnedMessage *item
        cdef Size n
        for n in range(self.used):
            item = &self.items[order[n]]
            if item.label != NOT_LEARNED:
                to = put_at(put_at(to, item.hash, 8), item.label, 1)
                to = put_at(put_at(to, bits_of(item.score), 4), bits_of(item.lead), 4)
        free(order)
        return records

    cdef uint64_t *order(self) except NULL:
        return order_of(<const uint64_t *>self.items, sizeof(LearnedMessage) // sizeof(uint64_t), self.used)

    def hashes_of(self, int label_index):
        """Return the hashes of all messages with this label (64 bits each), sorted."""
        cdef uint64_t *order = self.order()
        cdef Column hashes = new_column(self.used * sizeof(uint64_t))
        cdef Size n, count = 0
        for n in range(self.used):
            if self.items[order[n]].label == label_index:
                (<uint64_t *>hashes.at)[count] = self.items[order[n]].hash
                count += 1
        free(order)
        return cut_to(hashes, count * sizeof(uint64_t))

    def messages(self):
        """Return a list of the learned messages, sorted by hash: (hash, label index, score, lead of the label)."""
        cdef uint64_t *order = self.order()
        cdef LearnedMessage *item
        cdef Size n
        cdef list found = []
        for n in range(self.used):
            item = &self.items[order[n]]
            if item.label != NOT_LEARNED:
                found.append((item.hash, item.label, item.score, item.lead))
        free(order)
        return found

    def scored(self):
        """Return a list of the learned messages that have a score: (label index, score, lead of the label)."""
        cdef Size n
        return [
            (self.items[n].label, self.items[n].score, self.items[n].lead)
            for n in range(self.used)
            if self.items[n].label != NOT_LEARNED and self.items[n].score == self.items[n].score
        ]


cdef inline uint32_t bits_of(float number) noexcept nogil:
    cdef uint32_t bits
    memcpy(&bits, &number, 4)
    return bits


cdef inline float float_at(const Byte *at) noexcept nogil:
    cdef uint32_t bits = four_at(at)
    cdef float number
    memcpy(&number, &bits, 4)
    return number
