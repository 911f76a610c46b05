// Judges new mail, and learns from what the user marks and moves.

import { Host, each, rawOf } from "./host.js";

const UNSURE = "spamnb_unsure"; // the key of the tag
const host = new Host();

// What this add-on did itself, and is about to be told of. Kept for the session: Thunderbird ends this page when
// it is idle, and starts it again.
const own = {
  add: (what) => browser.storage.session.set({ [what]: true }),
  async take(what) {
    const found = what in (await browser.storage.session.get(what));
    if (found) await browser.storage.session.remove(what);
    return found;
  },
};

// One thing after another, in the order in which it happened.
let last = Promise.resolve();
function inTurn(work) {
  const done = last.then(work);
  last = done.then(
    () => showProblem(""),
    (error) => showProblem(error.message)
  );
  return last;
}

async function showProblem(why) {
  await browser.action.setBadgeText({ text: why ? "!" : "" });
  await browser.action.setTitle({ title: why ? `spamnb: ${why}` : "spamnb" });
  if (why) console.warn(`spamnb: ${why}`);
}

const isJunk = (folder) => Boolean(folder?.specialUse?.includes("junk"));
const isLeftAlone = (folder) =>
  !folder || ["trash", "sent", "drafts", "templates", "outbox"].some((use) => folder.specialUse?.includes(use));

async function judge(message) {
  const raw = await rawOf(message);
  if (!raw) return;
  const { verdict } = await host.ask({ do: "judge", message: raw });
  if (verdict === "unsure") {
    await tagUnsure(message);
  } else if (verdict === "spam") {
    await mark(message, true);
    if ((await browser.storage.local.get("moves")).moves) await moveToJunk(message);
  }
}

async function tagUnsure(message) {
  const tags = await browser.messages.tags.list();
  if (!tags.some((tag) => tag.key === UNSURE)) {
    await browser.messages.tags.create(UNSURE, "Spam?", "#B7791F");
  }
  await browser.messages.update(message.id, { tags: [...message.tags, UNSURE] });
}

async function mark(message, junk) {
  if (message.junk === junk) return; // Thunderbird would report no change
  await own.add(`mark ${message.id} ${junk}`);
  await browser.messages.update(message.id, { junk });
}

async function moveToJunk(message) {
  const { accountId } = message.folder;
  const [junk] = await browser.folders.query({ accountId, specialUse: ["junk"], limit: 1 });
  if (!junk || isJunk(message.folder)) return;
  await own.add(`move ${message.id}`);
  try {
    await browser.messages.move([message.id], junk.id);
  } catch (error) {
    await own.take(`move ${message.id}`);
    throw error;
  }
}

// Read a message that may have moved just now: it gets another id when the server confirms that.
async function readMoved(message) {
  const { folder, headerMessageId } = message;
  for (const seconds of [1, 2, 4, 8, 0]) {
    try {
      return [message, await rawOf(message)];
    } catch (error) {
      if (!seconds) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    const { messages } = await browser.messages.query({ folderId: folder.id, headerMessageId });
    message = messages[0] ?? message;
  }
}

// Learn a message as the user sees it, and have its marks say the same.
async function learn(seen, label) {
  const [message, raw] = await readMoved(seen);
  if (!raw) return;
  await host.ask({ do: "learn", message: raw, label });
  if (message.tags.includes(UNSURE)) {
    await browser.messages.update(message.id, { tags: message.tags.filter((tag) => tag !== UNSURE) });
  }
  await mark(message, label === "spam");
}

browser.messages.onNewMailReceived.addListener(async (_folder, list) => {
  for await (const message of each(list)) inTurn(() => judge(message));
  return last;
});

// Thunderbird reports a junk mark only when it changes: "not junk" on a message that was never junk is not reported.
// Marks of its own junk filter are reported alike. That filter marks new mail, while people mark what they have read
// or selected.
browser.messages.onUpdated.addListener((message, { junk }) => {
  if (junk === undefined) return;
  const isByUser = message.new ? isOnDisplay(message.id) : true;
  return inTurn(async () => {
    if ((await own.take(`mark ${message.id} ${junk}`)) || !(await isByUser)) return;
    await learn(await browser.messages.get(message.id), junk ? "spam" : "ham");
  });
});

async function isOnDisplay(id) {
  for (const tab of await browser.tabs.query({ type: ["mail", "messageDisplay"] })) {
    const list =
      tab.type === "mail"
        ? await browser.mailTabs.getSelectedMessages(tab.id)
        : await browser.messageDisplay.getDisplayedMessages(tab.id);
    for await (const message of each(list)) if (message.id === id) return true;
  }
  return false;
}

browser.messages.onMoved.addListener(async (before, after) => {
  const moved = [];
  for await (const message of each(before)) moved.push([message]);
  let at = 0;
  for await (const message of each(after)) moved[at++]?.push(message);
  for (const [from, to] of moved) inTurn(() => learnMoved(from, to));
  return last;
});

async function learnMoved(from, to) {
  if (await own.take(`move ${from.id}`)) return;
  if (!to || isJunk(from.folder) === isJunk(to.folder) || isLeftAlone(to.folder)) return;
  await learn(to, isJunk(to.folder) ? "spam" : "ham");
}

// Requests of the pages.
browser.runtime.onMessage.addListener(async ({ do: what, id, label }) => {
  try {
    if (what === "status") return await host.ask({ do: "status" });
    const message = await browser.messages.get(id);
    if (what === "learn") {
      await learn(message, label);
      if (label === "spam" && (await browser.storage.local.get("moves")).moves) await moveToJunk(message);
      return {};
    }
    const raw = await rawOf(message);
    return raw ? await host.ask({ do: "why", message: raw }) : { error: "This message is not on this computer." };
  } catch (error) {
    return { error: error.message };
  }
});

const openSetup = () => browser.runtime.openOptionsPage();
browser.action.onClicked.addListener(openSetup);
browser.runtime.onInstalled.addListener(({ reason }) => reason === "install" && openSetup());
