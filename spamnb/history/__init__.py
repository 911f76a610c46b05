"""What was judged lately, and how: verdicts with their messages, to look at and to put right.

`delivery.history_log` appends each verdict to a file as it is given: a delivery loads nothing of this room.
`database` gathers them, to be listed and searched.
"""
