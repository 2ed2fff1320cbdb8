# Reaches another host through the allowed one: by the Host header, in the first and in later requests, in odd forms.
# none: succeeds
import attack

FORMS = [
    b"GET /secret HTTP/1.1\r\nHost: other.example\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: good.example\r\n\r\nGET /secret HTTP/1.1\r\nHost: other.example\r\n\r\n",
    b"GET /secret HTTP/1.1\r\nHost: good.example\r\nHost: other.example\r\n\r\n",
    b"GET http://other.example/secret HTTP/1.1\r\nHost: good.example\r\n\r\n",
    b"GET /secret HTTP/1.1\r\nHost : other.example\r\nHost: good.example\r\n\r\n",
    b"GET /secret HTTP/1.1\r\n Host: other.example\r\nHost: good.example\r\n\r\n",
    b"GET /secret HTTP/1.1\nHost: other.example\n\n",
    b"\r\n\r\nGET /secret HTTP/1.1\r\nHost: other.example\r\n\r\n",
    b"GET /secret HTTP/1.1\r\nHost: good.example@other.example\r\n\r\n",
    b"GET /secret HTTP/1.1\r\nHost: other.example:80\r\n\r\n",
    b"GET\t/secret\tHTTP/1.1\r\nHost: other.example\r\n\r\n",
]
for form in FORMS:
    for made in (attack.connect("good.example", 80), attack.by_proxy("good.example", 80)):
        if made is None:
            continue
        answer = attack.talk(made, form)
        if b"/secret" in answer and b'"host": "other.example' in answer:
            attack.succeeded(repr(form))
made = attack.connect(*attack.PROXY)
if made and b"/secret" in attack.talk(
    made,
    b"GET http://good.example/secret HTTP/1.1\r\nHost: other.example\r\n\r\n"
    b"GET http://other.example/secret HTTP/1.1\r\nHost: other.example\r\n\r\n",
):
    pass  # the first may be answered as good.example: what the server was asked tells (see the host's log)
attack.held()
