"""`waystation mcp` as the official client in Python sees it."""

import asyncio
import json
import os
import pathlib
import unittest

import jsonschema
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from world import World

COMMAND = pathlib.Path(os.environ["WAYSTATIOND"]).with_name("waystation")
TOOLS = {
    "status": {"format": "json"}, "explain": {"subject": "exhausted"}, "dead": {}, "shape": {"by": "state"},
    "what-if": {"route": "ROUTE", "failures": ["503", "ok"]}, "events": {"limit": 5, "format": "json"},
}


class OfficialClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World(jobs=8)
        cls.addClassCleanup(cls.world.close)

    def server(self):
        relay = self.world.relay
        return stdio_client(StdioServerParameters(command=str(COMMAND), args=[
            "mcp", "--socket", relay.control, "--config", str(relay.file)]))

    def speak(self, talk, mode):
        async def run():
            async with Client(self.server(), mode=mode) as client:
                await talk(client)
        asyncio.run(asyncio.wait_for(run(), 60))

    def test_it_agrees_lists_its_tools_and_answers_each(self):
        route = next(iter(json.loads(self.world.relay.file.read_text())["routes"]))

        async def talk(client):
            listed = (await client.list_tools()).tools
            self.assertEqual({tool.name for tool in listed}, set(TOOLS))
            for tool in listed:
                self.assertTrue(tool.annotations.read_only_hint, tool)
                jsonschema.Draft202012Validator.check_schema(tool.input_schema)
                arguments = dict(TOOLS[tool.name])
                if "route" in arguments:
                    arguments["route"] = route
                jsonschema.validate(arguments, tool.input_schema)
                result = await client.call_tool(tool.name, arguments)
                self.assertFalse(result.is_error, (tool.name, result))
                self.assertTrue(result.content[0].text, tool.name)
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({"socket": "/tmp/a"}, listed[0].input_schema)
            wrong = await client.call_tool("explain", {"subject": "0" * 26})
            self.assertTrue(wrong.is_error, wrong)

        for mode in "legacy", "auto":
            with self.subTest(mode=mode):
                self.speak(talk, mode)


if __name__ == "__main__":
    unittest.main()
