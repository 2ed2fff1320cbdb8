#!/usr/bin/python3 -IS
# In QEMU's place: a machine whose Linux comes as far as it should, whatever accelerates it.
"""What it was told to be, and what it finds of its jail, becomes the state that it saves. PLACE of the environment is
nobody's: it has the descriptors of backend/vm/jail.h alone."""

import array
import fcntl
import json
import os
import socket
import sys

KVM_GET_API_VERSION = 0xAE00
KVM_CREATE_VM = 0xAE01
KVM_CREATE_VCPU = 0xAE41
KVM_GET_VCPU_MMAP_SIZE = 0xAE04


def kvm():
    """What the device lets whoever has it do."""
    try:
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
        machine = fcntl.ioctl(device, KVM_CREATE_VM, 0)
        fcntl.ioctl(machine, KVM_CREATE_VCPU, 0)
        return {"api": fcntl.ioctl(device, KVM_GET_API_VERSION), "pages": fcntl.ioctl(device, KVM_GET_VCPU_MMAP_SIZE)}
    except OSError as error:
        return {"error": str(error)}


def change_mode():
    try:
        os.chmod("/dev/kvm", 0o666)
        return "changed"
    except OSError as error:
        return error.strerror


state = None
with socket.socket(fileno=1) as monitor:
    monitor.sendall(b'{"QMP": {}}\n')
    held = b""
    while True:
        bytes_, ancillary, _, _ = monitor.recvmsg(1 << 16, socket.CMSG_SPACE(4))
        for _, _, data in ancillary:
            state = array.array("i", data)[0]
        if not bytes_:
            sys.exit(0)
        held += bytes_
        while b"\n" in held:
            line, held = held.split(b"\n", 1)
            command = json.loads(line)["execute"]
            answer = {}
            if command == "cont":
                os.write(2, b"hutch-guest: waits\n")
            if command == "migrate":
                found = {"words": sys.argv, "devices": sorted(os.listdir("/dev")), "kvm": kvm(), "chmod": change_mode(),
                         "uid": os.getuid(), "groups": os.getgroups()}
                os.write(state, json.dumps(found).encode())
            if command == "query-migrate":
                answer = {"status": "completed"}
            monitor.sendall(json.dumps({"return": answer}).encode() + b"\n")
