#!/bin/busybox sh
# shellcheck shell=dash
# The init of the test machine: delegates a cgroup v2 to an ordinary user, tries the limits there, says what it saw.
export PATH=/bin:/usr/bin
if [ ! -e /in-tmpfs ]; then
  # pivot_root(2) refuses to leave the initial ramfs: everything moves to a tmpfs first.
  /bin/busybox mkdir /new
  /bin/busybox mount -t tmpfs -o mode=755 root /new
  for name in bin etc usr var home root init; do /bin/busybox cp -a /$name /new/; done
  /bin/busybox mkdir /new/proc /new/sys /new/dev /new/tmp /new/run
  /bin/busybox touch /new/in-tmpfs
  echo; exec /bin/busybox switch_root /new /init
fi
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts
mount -t devpts -o ptmxmode=666 devpts /dev/pts
ln -sf pts/ptmx /dev/ptmx
chmod 1777 /tmp
chown -R 1000:1000 /home/user
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "+memory +pids +cpu" > /sys/fs/cgroup/cgroup.subtree_control

# What systemd does for a session (cgroups(7), "Delegation"): the user's own subtree, the shell in a leaf of it.
mkdir /sys/fs/cgroup/user
echo "+memory +pids +cpu" > /sys/fs/cgroup/user/cgroup.subtree_control
mkdir /sys/fs/cgroup/user/shell
for directory in /sys/fs/cgroup/user /sys/fs/cgroup/user/shell; do
  chown 1000:1000 $directory $directory/cgroup.procs $directory/cgroup.subtree_control $directory/cgroup.threads
done
echo $$ > /sys/fs/cgroup/user/shell/cgroup.procs

as_user() { su user -c "cd /home/user/project && $1" < /dev/null; }
say() { echo "RESULT $1: $2"; }

hog() { echo "dd if=/dev/zero of=/dev/null bs=$1 count=1"; }
bomb="sh -c 'i=0; while [ \$i -lt 40 ]; do sleep 9 & i=\$((i+1)); done; echo all'"
told() { say "$1" "$(as_user "$2" 2>&1 | tail -n 1)"; }
cgroups() { find /sys/fs/cgroup -name 'hutch-run-*' | wc -l; }

for backend in namespace none; do
  run="hutch run --backend $backend"
  told "$backend how" "$run --json --pids 50 -- true"
  told "$backend memory" "$run --memory 50M -- $(hog 200M)"
  told "$backend memory enough" "$run --memory 300M -- $(hog 50M) && echo done"
  told "$backend pids" "$run --pids 10 -- $bomb"
  told "$backend cpus" "$run --cpus 0.5 -- cat /proc/self/cgroup"
done

# A hutch that is killed leaves its cgroup to the next one.
as_user "hutch run --pids 50 -- sleep 600" 2>/dev/null &
while [ "$(cgroups)" = 0 ]; do sleep 1; done
sleep 2
killall -9 hutch
sleep 2
say "stale" "$(cgroups)"
as_user "hutch run --pids 50 -- true" 2>/dev/null
say "stale after the next" "$(cgroups)"
say "left running" "$(pgrep -f 'sleep 600' | wc -l)"
poweroff -f
