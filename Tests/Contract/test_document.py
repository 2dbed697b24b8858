"""The document in itself: it is OpenAPI 3.1, its examples keep to it, and nothing in it leads nowhere."""

import json
import pathlib
import subprocess
import unittest

import jsonschema_rs
from contract import Contract, references
from relay import daemon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = subprocess.run([daemon(), "--openapi"], check=True, capture_output=True).stdout
        cls.document = json.loads(cls.text)
        cls.contract = Contract(cls.document, strict=True)

    def test_stands_in_the_tree(self):
        self.assertEqual((ROOT / "config/waystation.openapi.json").read_bytes(), self.text)

    def test_schemas_are_schemas(self):
        for name, schema in self.document["components"]["schemas"].items():
            with self.subTest(name):
                jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})

    def test_references_lead_somewhere(self):
        self.assertTrue(list(references(self.document)))
        for reference in references(self.document):
            self.contract.resolved({"$ref": reference})
        told = set(references(self.document))
        for kind, found in self.document["components"].items():
            for name in found:
                # Those of lines are told of in a word of this document's own; a few codes come before any operation.
                if kind != "examples":
                    self.assertIn(f"#/components/{kind}/{name}", told)

    def test_operations_have_names_examples_and_roles(self):
        operations = list(self.contract.operations())
        names = [operation["operationId"] for _, _, operation in operations]
        self.assertEqual(len(names), len(set(names)))
        for path, method, operation in operations:
            with self.subTest(path=path, method=method):
                self.assertIn(operation["x-waystation-role"], ("submit", "metrics", "read", "operate", "admin"))
                places = [operation["requestBody"]] if "requestBody" in operation else []
                places += [self.contract.resolved(reply) for reply in operation["responses"].values()]
                media = [found for place in places for found in place.get("content", {}).items()]
                for type, found in media:
                    if type not in ("application/octet-stream", "*/*"):
                        self.assertTrue(found.get("examples"), type)
                self.assertTrue(any(found.get("examples") for _, found in media))

    def test_examples_keep_to_their_schemas(self):
        count = 0
        for path, method, operation in self.contract.operations():
            places = [operation.get("requestBody", {}), *operation["responses"].values()]
            for place in map(self.contract.resolved, places):
                for type, media in place.get("content", {}).items():
                    for name, example in media.get("examples", {}).items():
                        with self.subTest(path=path, method=method, type=type, example=name):
                            value = self.contract.resolved(example)["value"]
                            self.assertEqual(self.contract.faults(value, media["schema"]), [])
                            count += 1
        self.assertGreater(count, 300)

    def test_lines_of_examples_keep_to_their_schemas(self):
        count = 0
        for _, _, operation in self.contract.operations():
            places = [operation.get("requestBody", {}), *operation["responses"].values()]
            for place in map(self.contract.resolved, places):
                for media in place.get("content", {}).values():
                    line = media["schema"].get("x-waystation-lines")
                    for example in media.get("examples", {}).values() if line else ():
                        for text in example["value"].splitlines():
                            self.assertEqual(self.contract.faults(json.loads(text), line), [], text)
                            count += 1
        self.assertGreaterEqual(count, 4)

    def test_what_clients_leave_alone_is_found_here(self):
        live, schema = {"status": "live", "since": "2027-01-31T08:00:00Z"}, {"$ref": "#/components/schemas/Live"}
        self.assertEqual(Contract(self.document).faults(live, schema), [])
        self.assertIn("'since' was unexpected", self.contract.faults(live, schema)[0])

    def test_every_code_has_an_example_of_itself(self):
        codes = self.document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
        examples = self.document["components"]["examples"]
        self.assertEqual(sorted(codes), sorted(examples))
        for code, example in examples.items():
            value = example["value"]
            self.assertEqual(value["code"], code)
            self.assertEqual(value["type"], "urn:waystation:problem:" + code)
            self.assertEqual(self.contract.faults(value, {"$ref": "#/components/schemas/Problem"}), [])


if __name__ == "__main__":
    unittest.main()
