// The first page: what spamnb has learned, options, and learning from the folders that are there.

import { Host, each, rawOf } from "./host.js";

const NOTHING = ["trash", "sent", "drafts", "templates", "outbox"]; // folders that are not asked about
const find = (id) => document.getElementById(id);

async function showStatus() {
  const { messages, can_judge, error } = await browser.runtime.sendMessage({ do: "status" });
  const counts = `Learned: ${messages?.ham ?? 0} messages that are not spam, ${messages?.spam ?? 0} spam.`;
  const next = can_judge ? "New mail is judged." : "That is too little to judge new mail.";
  find("status").textContent = error ?? `${counts} ${next}`;
}

async function showFolders() {
  const accounts = new Map((await browser.accounts.list(false)).map(({ id, name }) => [id, name]));
  for (const folder of await browser.folders.query({ isRoot: false, isVirtual: false, isUnified: false, isTag: false })) {
    if (NOTHING.some((use) => folder.specialUse?.includes(use))) continue;
    const { totalMessageCount } = await browser.folders.getFolderInfo(folder.id);
    const row = find("folders").insertRow();
    row.insertCell().textContent = `${accounts.get(folder.accountId) ?? ""} ${folder.path}`;
    row.insertCell().textContent = totalMessageCount;
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", folder.path);
    for (const [value, text] of [["", "leave out"], ["ham", "mail to keep"], ["spam", "spam"]]) {
      choice.add(new Option(text, value));
    }
    choice.value = folder.specialUse?.includes("junk") ? "spam" : "ham";
    row.insertCell().append(choice);
    Object.assign(row, { folder, choice, count: totalMessageCount });
  }
}

async function train() {
  const chosen = [...find("folders").rows].filter((row) => row.choice.value);
  const most = Math.max(1, Number(find("most").value) || 1);
  const progress = find("progress");
  progress.max = chosen.reduce((sum, row) => sum + Math.min(row.count, most), 0);
  progress.value = 0;
  progress.hidden = false;
  const host = new Host(); // of its own, so that new mail is judged meanwhile
  let unread = 0;
  try {
    await host.ask({ do: "train" });
    for (const row of chosen) {
      find("said").textContent = `Reading ${row.folder.path} …`;
      let left = most;
      for await (const message of each(await browser.messages.list(row.folder.id, { sortType: "date" }))) {
        if (!left--) break;
        const raw = await rawOf(message).catch(() => null);
        if (raw) await host.ask({ do: "mail", message: raw, label: row.choice.value });
        else unread++;
        progress.value++;
      }
    }
    find("said").textContent = "Learning …";
    await host.ask({ do: "end" });
    find("said").textContent = unread ? `Done. ${unread} messages could not be read.` : "Done.";
  } catch (error) {
    find("said").textContent = `Nothing was learned: ${error.message}`;
  } finally {
    host.close();
    progress.hidden = true;
    await showStatus();
  }
}

find("train").addEventListener("click", async () => {
  find("train").disabled = true;
  await train();
  find("train").disabled = false;
});
find("moves").addEventListener("change", () => browser.storage.local.set({ moves: find("moves").checked }));
find("moves").checked = Boolean((await browser.storage.local.get("moves")).moves);
await Promise.all([showStatus(), showFolders()]);
document.body.dataset.ready = "";
