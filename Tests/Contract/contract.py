"""The contract: the document that the daemon serves, and what holds an answer against it."""

import copy
import re

import jsonschema
import referencing
from referencing.jsonschema import DRAFT202012

URI = "urn:contract"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


class Contract:
    """`strict` finds members that the document does not know, which clients would leave alone."""

    def __init__(self, document, strict=False):
        self.document = closed(document) if strict else document
        resource = referencing.Resource.from_contents(self.document, default_specification=DRAFT202012)
        self.registry = referencing.Registry().with_resource(URI, resource)

    def operations(self):
        """(path, method, operation) of each."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield path, method, item[method]

    def find(self, id):
        return next(found for found in self.operations() if found[2]["operationId"] == id)

    def resolved(self, value):
        while "$ref" in value:
            found = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            value = found
        return value

    def faults(self, value, schema):
        """The parts of the value that do not keep to the schema, which stands in the document."""
        validator = jsonschema.Draft202012Validator(
            rebased(schema), registry=self.registry, format_checker=jsonschema.FormatChecker())
        return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]

    def media(self, operation, status, type):
        """The document's description of an answer with that status and media type."""
        replies = operation["responses"]
        reply = self.resolved(replies.get(str(status)) or replies["default"])
        found = {essence(name): media for name, media in reply.get("content", {}).items()}
        return reply, found.get(essence(type or ""))


def essence(type):
    """A media type without its parameters."""
    return type.split(";")[0].strip().lower()


def closed(schema):
    """The same, in which no object may have a member that it does not tell of."""
    if isinstance(schema, list):
        return [closed(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


def rebased(schema):
    """References of the document's own as ones from anywhere."""
    if isinstance(schema, list):
        return [rebased(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: rebased(value) for name, value in schema.items()}
    if isinstance(made.get("$ref"), str) and made["$ref"].startswith("#"):
        made["$ref"] = URI + made["$ref"]
    return made


def properties(document):
    """Every member that an answer's schema tells of: (schema, member)."""
    found = set()

    def walk(name, schema):
        if isinstance(schema, list):
            for element in schema:
                walk(name, element)
        elif isinstance(schema, dict):
            for member, value in (schema.get("properties") or {}).items():
                found.add((name, member))
            for value in schema.values():
                walk(name, value)
    for name, schema in document["components"]["schemas"].items():
        walk(name, schema)
    return found


def references(value):
    """Every reference in the document."""
    if isinstance(value, list):
        for element in value:
            yield from references(element)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for element in value.values():
            yield from references(element)
