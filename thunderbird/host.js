// The connection to `spamnb thunderbird`, a program on this computer that Thunderbird starts when it is first asked.

export class Host {
  #port = null;
  #waiting = new Map(); // by the id of a request
  #last = 0;

  // Send a request and return the answer; throw an Error with a sentence for people.
  ask(request) {
    this.#port ??= this.#connect();
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, page: "" });
      this.#port.postMessage({ id, ...request });
    });
  }

  close() {
    this.#port?.disconnect();
    this.#end("The connection was closed.");
  }

  #connect() {
    const port = browser.runtime.connectNative("spamnb");
    port.onMessage.addListener((answer) => {
      const asked = this.#waiting.get(answer.id);
      if (!asked) return;
      asked.page += answer.page ?? "";
      if (answer.more) return;
      this.#waiting.delete(answer.id);
      if (answer.error) asked.reject(Object.assign(new Error(answer.error), { kind: answer.kind }));
      else asked.resolve({ ...answer, page: asked.page });
    });
    port.onDisconnect.addListener(() => {
      const why = port.error?.message ?? "";
      this.#end(
        why.includes("No such native application")
          ? "Thunderbird does not find spamnb. Run this in a terminal: spamnb thunderbird install"
          : `spamnb has stopped. ${why}`
      );
    });
    return port;
  }

  #end(why) {
    this.#port = null;
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }
}

export const MAX_MESSAGE = 64 << 20; // bytes

// Return the bytes of a message, a character each; null if it has none here, or is too large.
export async function rawOf(message) {
  if (message.headersOnly || message.size > MAX_MESSAGE) return null;
  const raw = await browser.messages.getRaw(message.id, { data_format: "BinaryString" });
  return raw.trim() ? raw : null;
}

// Yield all messages of a list, which Thunderbird gives page by page.
export async function* each(list) {
  for (let page = list; ; page = await browser.messages.continueList(page.id)) {
    yield* page.messages;
    if (!page.id) return;
  }
}
