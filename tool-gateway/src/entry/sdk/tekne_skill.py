"""What a skill written in Python gets, and the loop that serves its calls.

A skill imports `SkillResult` from `tekne_skill` and defines `async def f(ctx, params)`. Lines of
JSON come in on standard input and go out on what was standard output; what the skill prints goes
to standard error.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
import types


class SkillResult:
    """What a skill returns: `SkillResult.ok(...)` or `SkillResult.err(...)`."""

    def __init__(self, ok, value=None, message="", kind="error"):
        self.is_ok = ok
        self.value = value
        self.message = message
        self.kind = kind

    @classmethod
    def ok(cls, value=None, **fields):
        return cls(True, fields if value is None else value)

    @classmethod
    def err(cls, message, transient=False, kind=None):
        return cls(False, None, str(message), kind or ("transient" if transient else "error"))


class TransientError(Exception):
    """Raised by a skill where another attempt may go well."""


class Memory:
    """Facts of the session. What is set counts once the skill has succeeded."""

    def __init__(self, facts):
        self._facts = dict(facts)
        self._changed = {}

    def get(self, key, default=None):
        return self._facts.get(key, default)

    def set(self, key, value):
        if not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
        self._facts[key] = value
        self._changed[key] = value

    def remove(self, key):
        self._facts.pop(key, None)
        self._changed[key] = None


class Model:
    """The model of the host."""

    async def complete(self, prompt, system=None):
        _say({"type": "llm", "prompt": str(prompt), "system": system})
        answer = await asyncio.get_running_loop().run_in_executor(None, _hear)
        if answer.get("error") is not None:
            raise RuntimeError(answer["error"])
        return answer["text"]

    chat = complete


class Log:
    """Lines for an operator."""

    def _write(self, level, *words):
        _say({"type": "log", "text": level + ": " + " ".join(str(word) for word in words)})

    def debug(self, *words):
        self._write("debug", *words)

    def info(self, *words):
        self._write("info", *words)

    def warning(self, *words):
        self._write("warning", *words)

    def error(self, *words):
        self._write("error", *words)


class Context:
    """What one call knows. Another call gets another one."""

    def __init__(self, given, services):
        self.call_id = given["call_id"]
        self.user_id = given["user_id"]
        self.now = given["now"]
        self.zone = given["zone"]
        self.services = services
        self.memory = Memory(given["facts"])
        self.llm = Model()
        self.log = Log()


class Services:
    """What the factories of the declaration made."""

    def __getitem__(self, name):
        return getattr(self, name)


_out = None


def _say(message):
    _out.write(json.dumps(message, ensure_ascii=False, default=str) + "\n")
    _out.flush()


def _hear():
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    return json.loads(line)


async def _settled(value):
    return await value if inspect.isawaitable(value) else value


async def _services(folder, wanted):
    services = Services()
    for name, factory in wanted.items():
        path = os.path.join(folder, factory["file"])
        spec = importlib.util.spec_from_file_location("services_" + name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(services, name, await _settled(getattr(module, factory["function"])()))
    return services


async def _call(module, services, message):
    context = Context(message["context"], services)
    try:
        function = getattr(module, message["function"])
        result = await _settled(function(context, message["params"]))
    except TransientError as error:
        return {"ok": False, "message": str(error), "kind": "transient"}
    except Exception as error:
        return {
            "ok": False,
            "message": type(error).__name__ + ": " + str(error),
            "kind": "exception",
            "detail": traceback.format_exc(),
        }
    if not isinstance(result, SkillResult):
        result = SkillResult.ok(result)
    if result.is_ok:
        return {"ok": True, "value": result.value, "facts": context.memory._changed}
    return {"ok": False, "message": result.message, "kind": result.kind}


async def _serve():
    start = await asyncio.get_running_loop().run_in_executor(None, _hear)
    try:
        sys.path.insert(0, start["folder"])
        services = await _services(start["folder"], start["services"])
        module = importlib.import_module(start["module"])
    except BaseException as error:
        message = "the skill could not be loaded: " + type(error).__name__ + ": " + str(error)
        _say({"type": "failed", "message": message, "detail": traceback.format_exc()})
        return
    _say({"type": "ready"})
    while True:
        message = await asyncio.get_running_loop().run_in_executor(None, _hear)
        result = await _call(module, services, message)
        result["type"] = "result"
        _say(result)


def _main():
    global _out
    _out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin = os.fdopen(os.dup(0), "r", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sdk = types.ModuleType("tekne_skill", __doc__)
    sdk.SkillResult = SkillResult
    sdk.TransientError = TransientError
    sys.modules["tekne_skill"] = sdk
    asyncio.run(_serve())


_main()
