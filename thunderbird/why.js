// Shows why the message on display gets its verdict. The page comes from spamnb, and is shown without any rights.

const said = document.getElementById("said");

async function messageOnDisplay() {
  const [tab] = await browser.tabs.query({ active: true, currentWindow: true });
  const list = await browser.messageDisplay.getDisplayedMessages(tab.id);
  return list.messages[0];
}

async function show(id) {
  const { page, error } = await browser.runtime.sendMessage({ do: "why", id });
  said.textContent = error ?? "";
  document.getElementById("page").srcdoc = page ?? "";
}

const message = await messageOnDisplay();
if (message) {
  for (const label of ["ham", "spam"]) {
    document.getElementById(label).addEventListener("click", async () => {
      said.textContent = "Learning …";
      const { error } = await browser.runtime.sendMessage({ do: "learn", id: message.id, label });
      said.textContent = error ?? "Learned.";
    });
  }
  await show(message.id);
} else {
  said.textContent = "Open a message first.";
}
