# Connects to a port of the allowed host that is not allowed.
# none: succeeds
import attack

for open_one in (
    lambda: attack.connect("good.example", 8080),
    lambda: attack.by_proxy("good.example", 8080),
    lambda: attack.by_socks(b"good.example", 8080),
):
    made = open_one()
    if made and attack.is_answer(attack.get(made, "good.example:8080")):
        attack.succeeded("good.example:8080 answers")
attack.held()
