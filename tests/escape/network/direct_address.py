# Connects to a host that is not allowed by its address, at several ports, by both kinds of addresses.
# none: succeeds
import attack

for host in (attack.OTHER, "2001:db8:2::16"):
    for port in (80, 8080):
        made = attack.connect(host, port)
        if made and attack.is_answer(attack.get(made, "other.example")):
            attack.succeeded(f"{host}:{port} answers")
attack.held()
