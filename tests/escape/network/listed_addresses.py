# Reaches the host itself, a metadata service or a private address by names that the host's hosts file gives to them,
# and that an entry allows: loopback, the host's own and link-local addresses by name, a private one by a star.
# none: succeeds
# allow: lo.corp lo2.corp lo6.corp map.corp any.corp any6.corp two.corp mix.corp by.corp by6.corp meta.corp *.star.corp
import attack

NAMES = ("meta.corp", "by.corp", "by6.corp", "mix.corp", "a.star.corp", "lo.corp", "lo2.corp",
         "lo6.corp", "map.corp", "any.corp", "any6.corp", "two.corp")
for name in NAMES:
    for port in (80, 8099):
        for made in (attack.connect(name, port), attack.by_proxy(name, port), attack.by_socks(name.encode(), port)):
            if made and (attack.is_answer(answer := attack.get(made, name)) or b"host service" in answer):
                attack.succeeded(f"{name}:{port}")
attack.held()
