# A model on loopback that has its agent run one command, and says what came of it.
"""Speaks as much of Anthropic's Messages, OpenAI's Responses and Gemini's API as their agents need, streamed."""

import http.server
import json
import threading


class FakeModel:
    """Serves until it is left. `heard` are the paths that were asked for."""

    def __init__(self, command):
        model = self
        self.heard = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, kind, body):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_HEAD(self):
                self.answer("application/json", b"")

            def do_GET(self):
                self.answer("application/json", b"{\"data\": [], \"models\": []}")

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                model.heard.append(self.path)
                if "count_tokens" in self.path:
                    return self.answer("application/json", b"{\"input_tokens\": 1}")
                if "enerateContent" in self.path:
                    answer = gemini(asked, model.command)
                    if "stream" not in self.path:
                        return self.answer("application/json", json.dumps(answer).encode())
                    return self.answer("text/event-stream", f"data: {json.dumps(answer)}\n\n".encode())
                events = model.answer(self.path, asked)
                text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
                return self.answer("text/event-stream", text.encode())

        self.command = command
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def answer(self, path, asked):
        """The events that answer what was asked there."""
        return responses(asked, self.command) if "/responses" in path else messages(asked, self.command)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def said(result):
    return "RESULT: " + json.dumps(result)


def messages(asked, command):
    """Anthropic's API reference, "Streaming Messages"."""
    last = asked["messages"][-1]["content"]
    results = [part for part in last if isinstance(part, dict) and part.get("type") == "tool_result"] \
        if isinstance(last, list) else []
    names = [tool.get("name") for tool in asked.get("tools", [])]
    shell = next((name for name in names if name.lower() == "bash"), None)
    if results or shell is None:
        block, stop = {"type": "text", "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": said(results[-1]["content"] if results else None)}
    else:
        block, stop = {"type": "tool_use", "id": "toolu_1", "name": shell, "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": command, "description": "try"})}
    return spoken(asked, [(block, delta)], stop)


def spoken(asked, blocks, stop):
    """The events of a message of these blocks, each with the one delta that is all of it."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"), "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    events = [{"type": "message_start", "message": message}]
    for index, (block, delta) in enumerate(blocks):
        events += [{"type": "content_block_start", "index": index, "content_block": block},
                   {"type": "content_block_delta", "index": index, "delta": delta},
                   {"type": "content_block_stop", "index": index}]
    return events + [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                      "usage": {"output_tokens": 1}},
                     {"type": "message_stop"}]


def responses(asked, command):
    """OpenAI's API reference, "Responses", "Streaming events"."""
    outputs = [item for item in asked.get("input", []) if str(item.get("type", "")).endswith("_output")]
    if outputs:
        item = {"type": "message", "role": "assistant", "id": "m1",
                "content": [{"type": "output_text", "text": said(outputs[-1].get("output"))}]}
    else:
        item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command",
                "arguments": json.dumps({"cmd": command})}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    return [{"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "usage": usage}}]


def gemini(asked, command):
    """The reference of the Gemini API, "Generating content"."""
    parts = asked["contents"][-1].get("parts", [])
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    names = [one["name"] for tool in asked.get("tools", []) for one in tool.get("functionDeclarations", [])]
    if results or "run_shell_command" not in names:
        part = {"text": said(results[-1]["response"] if results else None)}
    else:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command, "description": "try"}}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
