# Reaches private, link-local, metadata and loopback addresses by names that resolve to them, which are allowed.
# none: succeeds
# allow: private.example loop.example meta.example mapped.example nat64.example near.example
import attack

for name in ("private.example", "meta.example", "mapped.example", "nat64.example", "near.example", "loop.example"):
    for port in (80, 8099):
        for made in (attack.connect(name, port), attack.by_proxy(name, port), attack.by_socks(name.encode(), port)):
            if made and (attack.is_answer(answer := attack.get(made, name)) or b"host service" in answer):
                attack.succeeded(f"{name}:{port}")
attack.held()
