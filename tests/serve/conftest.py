from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.review.repositories import Repository
from tests.serve.hosted_github import HostedGitHub
from tests.serve.served import SECRET, TOKEN, Served

POLICY = """\
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
"""


def model(*names: str, ends: str = "") -> str:
    """A file with a model whose ends are half precision, or not."""
    lines = ["import keras", "", "import policy", "", "pixels = keras.Input((64,))"]
    for name in names:
        lines += ["", f"{name} = keras.layers.Dense(10{ends})(pixels)", f"model_{name} = keras.Model(pixels, {name})"]
    return "\n".join((*lines, ""))


RIGHT = ', dtype="float32"'


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A pull request that brings two faults."""
    made = Repository(tmp_path / "repository")
    made.commit(policy=POLICY, other="x = 1\n")
    made.branch()
    made.commit(first=model("one", "two"))
    return made


@pytest.fixture
def github(repository: Repository) -> Iterator[HostedGitHub]:
    github = HostedGitHub(repository, TOKEN)
    with github.hosted():
        yield github


@pytest.fixture(scope="session")
def key() -> tuple[str, str]:
    """An app's key: the public and the private half."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    public = made.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return public.decode(), made.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()


@pytest.fixture
def served(github: HostedGitHub, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start a server; whatever it does, it logs no secret."""
    started: list[Served] = []

    def serve(*arguments: str, **environment: str) -> Served:
        started.append(Served(tmp_path / "serve.sqlite", github.url, *arguments, **environment))
        return started[-1]

    yield serve
    for one in started:
        has_ended = one.close()
        told = "".join(one.lines)
        assert not [secret for secret in (SECRET, TOKEN, "ghs_", "Basic ", "BEGIN") if secret in told]
        assert not has_ended or not list((tmp_path / "serve.sqlite-work").iterdir())
