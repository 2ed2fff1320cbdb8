# Writes addresses in ways that a check may not know for what they are: decimal, octal, hexadecimal, short, mapped.
# none: succeeds by the first
import attack

FORMS = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "0xa9.0xfe.0xa9.0xfe",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "169.254.169.254.",
    "3232237319",
    "0300.0250.07.07",
    "[::ffff:192.168.7.7]",
    "203.0.113.11",
    "3405803787",
    "0xcb00710b",
    "[::ffff:203.0.113.11]",
    "127.1",
    "2130706433",
    "0",
    "0x7f000001",
    "[::1]",
    "[::]",
    "localhost",
    "127.0.0.1",
    "[::ffff:127.0.0.1]",
    "[::1%lo]",
    "[fe80::1%25out]",
]
for form in FORMS:
    for port in (80, 8099):
        ways = [attack.by_proxy(form, port), attack.by_socks(form.strip("[]").encode(), port)]
        if form.startswith(("1", "[")) and not form.startswith(("127", "[::1]", "[::]")):
            ways.append(attack.connect(form.strip("[]"), port))
        for made in ways:
            if made and (attack.is_answer(answer := attack.get(made, form)) or b"host service" in answer):
                attack.succeeded(f"{form}:{port}")
attack.held()
