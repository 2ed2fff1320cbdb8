# Reaches another host through the allowed one: by the name in the TLS hello.
# none: succeeds
import ssl

import attack

context = ssl._create_unverified_context()
for open_one in (
    lambda: attack.connect("good.example", 443),
    lambda: attack.by_proxy("good.example", 443),
    lambda: attack.by_socks(b"good.example", 443),
):
    made = open_one()
    try:
        if made and attack.is_answer(attack.get(context.wrap_socket(made, server_hostname="other.example"), "x")):
            attack.succeeded("a hello to another name came through")
    except OSError:
        pass
attack.held()
