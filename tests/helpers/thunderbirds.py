"""Run Debian's Thunderbird on a virtual screen, controlled by Marionette, its protocol for tests."""

import json
import os
import shutil
import signal
import socket
import subprocess
from base64 import b64decode
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from helpers.ports import answers, free_ports
from helpers.waiting import PATIENCE, until

SCREEN = "1280x900x24"
SETTINGS = {
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.autoDisableScopes": 0,
    "mail.biff.show_alert": False,
    "mail.provider.suppress_dialog_on_startup": True,
    "mail.rights.version": 1,
    "mail.spam.manualMark": False,
    "mail.spotlight.firstRunDone": True,
    "mailnews.start_page.enabled": False,
    "toolkit.telemetry.enabled": False,
    "ui.popup.disable_autohide": True,  # without a window manager no window has the focus
}
# An account of IMAP at a port of this machine, and the folders of this computer.
ACCOUNT = {
    "mail.account.account1.server": "server1",
    "mail.account.account1.identities": "id1",
    "mail.account.account2.server": "server2",
    "mail.account.lastKey": 2,
    "mail.accountmanager.accounts": "account1,account2",
    "mail.accountmanager.defaultaccount": "account1",
    "mail.accountmanager.localfoldersserver": "server2",
    "mail.identity.id1.fullName": "Bob",
    "mail.identity.id1.useremail": "bob@example.org",
    "mail.identity.id1.valid": True,
    "mail.server.server1.authMethod": 3,
    "mail.server.server1.hostname": "127.0.0.1",
    "mail.server.server1.login_at_startup": False,
    "mail.server.server1.name": "bob@example.org",
    "mail.server.server1.socketType": 0,
    "mail.server.server1.spamLevel": 0,
    "mail.server.server1.type": "imap",
    "mail.server.server1.userName": "bob",
    "mail.server.server2.hostname": "Local Folders",
    "mail.server.server2.name": "Local Folders",
    "mail.server.server2.type": "none",
    "mail.server.server2.userName": "nobody",
}


class Thunderbird:
    """A Thunderbird with a new profile, for the user of a home."""

    def __init__(self, home, imap=1, environment=None):
        self.home, self.folder = home, home / "thunderbird"
        self.folder.mkdir()
        (self.port,) = free_ports(1)
        settings = SETTINGS | {"marionette.port": self.port}
        settings |= ACCOUNT | {"mail.server.server1.port": imap}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items()]
        (self.folder / "user.js").write_text("".join(lines))
        self.environment = environment or {"HOME": str(home), "PATH": os.environ["PATH"]}
        self.asked = 0

    def __enter__(self):
        self.processes: list[Any] = []
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def start(self):
        screen: Any
        display = ["Xvfb", "-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"]
        screen = subprocess.Popen(
            display, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.processes.append(screen)
        self.display = f":{screen.stdout.readline().decode().strip()}"
        command = [shutil.which("thunderbird"), "--profile", self.folder, "--no-remote"]
        command += ["--marionette", "--remote-allow-system-access"]
        with (self.folder / "log").open("wb") as log:
            program = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=self.environment | {"DISPLAY": self.display},
                start_new_session=True,
            )
        self.processes.append(program)
        until(lambda: answers(self.port) or program.poll() is not None)
        self.connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        self.stream = self.connection.makefile("rb")
        self._receive()
        self.ask("WebDriver:NewSession", capabilities={})
        self.ask("Marionette:SetContext", value="chrome")
        self.run("Services.wm.getMostRecentWindow('mail:3pane').moveTo(0, 0)")

    def __exit__(self, *_):
        self.end()

    def end(self):
        with suppress(AttributeError):
            self.connection.close()
        for process in reversed(self.processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _receive(self):
        size = b""
        while not size.endswith(b":"):
            byte = self.stream.read(1)
            assert byte, (self.folder / "log").read_text()
            size += byte
        return json.loads(self.stream.read(int(size[:-1])))

    def ask(self, command, **values):
        self.asked += 1
        data = json.dumps([0, self.asked, command, values]).encode()
        self.connection.sendall(b"%d:%s" % (len(data), data))
        _, _, error, result = self._receive()
        assert not error, error
        return result

    def run(self, script, *values):
        """Run JavaScript with the rights of Thunderbird, as a function of `values`; return the result."""
        script = f"{TOOLS}\nreturn (async (...values) => {{{script}}})(...arguments);"
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(values))["value"]

    def in_page(self, end, script):
        """Evaluate JavaScript in the add-on's page whose address ends with `end`; None if there is none."""
        source = f"sendAsyncMessage('done', (() => {{ const {{document}} = content; return {script} }})())"
        return self.run(IN_PAGE, end, f"data:,{quote(source)}")

    def add_on(self, xpi):
        self.run("await (await AddonManager.getInstallForFile(new FileUtils.File(values[0]))).install()", xpi)

    def log_in(self):
        self.run("imap.password = values[0]", "any")

    def get_mail(self):
        """Get new mail and the list of folders from the server."""
        self.run(GET_MAIL)

    def messages(self, folder="INBOX"):
        """Return the messages of a folder: {subject: [whether marked as junk, tags]}."""
        return {subject: marks for subject, *marks in self.run(LIST, folder)}

    def select(self, subject, folder="INBOX"):
        """Open a folder and select a message, as the user does with clicks."""
        until(lambda: self.run(SELECT, folder, subject))

    def command(self, name, folder=None):
        """Run a menu command for the selected message, with a folder if the command needs one."""
        self.run(COMMAND, name, folder)

    def mark_as_its_own_filter(self, subject):
        """Mark a message as junk as Thunderbird's own filter does."""
        self.run(MARK, subject)

    def open_popup(self):
        """Click the button that the add-on shows above the open message."""
        self.run(OPEN)

    def problem(self):
        """Return, for a test that fails, the add-on's toolbar button and the messages in the folders."""
        said = "return main.document.querySelector('[extension=\"spamnb@spamnb.org\"]')?.outerHTML"
        return "\n".join(map(str, (self.run(said), self.messages(), self.messages("Junk"))))

    def picture(self):
        """Return a picture of the window, as PNG."""
        return b64decode(self.ask("WebDriver:TakeScreenshot", full=False)["value"])


TOOLS = """
const {MailServices} = ChromeUtils.importESModule("resource:///modules/MailServices.sys.mjs");
const {AddonManager} = ChromeUtils.importESModule("resource://gre/modules/AddonManager.sys.mjs");
const {FileUtils} = ChromeUtils.importESModule("resource://gre/modules/FileUtils.sys.mjs");
const imap = MailServices.accounts.allServers.find(server => server.type == "imap");
const main = Services.wm.getMostRecentWindow("mail:3pane");
const tabs = main.document.getElementById("tabmail");
const folderOf = name => imap.rootFolder.descendants.find(folder => folder.name == name);
"""
GET_MAIL = """
const inbox = imap.rootFolder.getFolderWithFlags(Ci.nsMsgFolderFlags.Inbox);
await new Promise(done => inbox.getNewMessages(null, {OnStartRunningUrl() {}, OnStopRunningUrl: done}));
"""
LIST = """
return [...(folderOf(values[0])?.messages ?? [])].map(message => [
  message.mime2DecodedSubject,
  message.getStringProperty("junkscore") == "100",
  message.getStringProperty("keywords").split(" ").filter(word => word && !word.endsWith("junk")),
]);
"""
SELECT = """
tabs.switchToTab(0);
const pane = tabs.currentAbout3Pane, folder = folderOf(values[0]);
if (!folder) return false;
if (pane.gFolder != folder) pane.displayFolder(folder.URI);
// A message that was moved has a key of its own making until the server confirms that.
const confirmed = [...folder.messages].filter(message => message.messageKey < 0x80000000);
const message = confirmed.find(message => message.mime2DecodedSubject == values[1]);
const row = message && pane.gDBView ? pane.gDBView.findIndexOfMsgHdr(message, true) : 0xffffffff;
if (row == 0xffffffff) return false;
pane.threadTree.selectedIndex = row;
return tabs.currentAboutMessage?.gMessage == message;
"""
COMMAND = """
const pane = tabs.currentAbout3Pane;
pane.commandController.doCommand(values[0], values[1] ? folderOf(values[1]) : undefined);
"""
MARK = """
const message = [...folderOf("INBOX").messages].find(message => message.mime2DecodedSubject == values[0]);
message.folder.setJunkScoreForMessages([message], "100", "plugin", -1);
"""
OPEN = """
tabs.currentAboutMessage.document.querySelector("[data-extensionid='spamnb@spamnb.org']").click();
"""
IN_PAGE = """
const windows = [main, tabs.currentAbout3Pane, tabs.currentAboutMessage].filter(Boolean);
const popups = windows.flatMap(one => [...one.document.querySelectorAll(".webextension-popup-browser")]);
const all = [...popups, ...tabs.tabInfo.map(tab => tab.browser)];
const page = all.find(one => one?.currentURI?.spec.endsWith(values[0]));
if (!page) return null;
return new Promise(done => {
  const there = page.messageManager;
  const listener = {receiveMessage({data}) { there.removeMessageListener("done", listener); done(data) }};
  there.addMessageListener("done", listener);
  there.loadFrameScript(values[1], false);
});
"""
