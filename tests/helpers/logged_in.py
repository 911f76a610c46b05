"""Run a command as an ordinary user who is logged in: with the user's systemd, in separate namespaces.

    subprocess.run([*LOGGED_IN, *AS_THE_USER, "systemctl", "--user", "start", "x"], env={"HOME": home})

This needs root, and a kernel that allows new namespaces. All processes end when the command ends.
"""

import sys

from helpers.homes import CLOSED, NOBODY, OPEN

# A control group for all of it, which is gone afterwards.
OUTER = """
groups=$(findmnt -n -o TARGET -t cgroup2 | head -1)
[ "$groups" ] || { echo 'no cgroup2 is mounted' >&2; exit 1; }
own="$groups$(sed -n 's/^0:://p' /proc/self/cgroup)/spamnb-$$"
mkdir "$own"
(echo 0 > "$own/cgroup.procs"; exec unshare --mount --pid --ipc --cgroup --fork --kill-child --mount-proc \\
    sh -ec "$0" sh "$@") && code=0 || code=$?
find "$own" -depth -type d -exec rmdir {} +
exit $code
"""
# What a login finds: a system that systemd has booted, a folder in /run, and a control group to divide.
INNER = """
mount -t tmpfs -o mode=755 none /run
mkdir -p /run/systemd/system /run/systemd/unit-root /run/user
umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup
group=/sys/fs/cgroup/user
mkdir $group; chown USER $group $group/cgroup.procs $group/cgroup.subtree_control $group/cgroup.threads
export XDG_RUNTIME_DIR=/run/user/USER PATH="$PATH:/usr/bin:/bin"
install -d -m 700 -o USER $XDG_RUNTIME_DIR
sh -c 'echo $$ > '$group'/cgroup.procs; exec setpriv AS /lib/systemd/systemd --user' &
until [ -S $XDG_RUNTIME_DIR/bus ]; do sleep 0.1; kill -0 $!; done
"$@"
"""
RIGHTS = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
AS_THE_USER = ["setpriv", *RIGHTS]
OPENED = f"sh -c '{OPEN}' {CLOSED[0]} {sys.base_prefix}\n" if CLOSED else ""
AS = f"setpriv {' '.join(RIGHTS)}"
LOGGED_IN = ["sh", "-ec", OUTER, OPENED + INNER.replace("USER", str(NOBODY)).replace("setpriv AS", AS)]
