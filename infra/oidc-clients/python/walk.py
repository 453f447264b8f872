"""Walks the provider's flows with Authlib, over requests."""

import json
import os
import secrets
import sys

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the provider of a run is on this machine

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet

SUBJECT = json.loads(os.environ["SUBJECT"])


def ask(verb, address):
    """Where a person's browser ends that is sent to an address."""
    print(verb, address, flush=True)
    return sys.stdin.readline().strip()


def demand(condition, what):
    if not condition:
        raise AssertionError(f"expected {what}")


class Walk:
    def discovery(self):
        answer = requests.get(f"{SUBJECT['issuer']}/.well-known/openid-configuration", timeout=30)
        answer.raise_for_status()
        self.metadata = answer.json()
        demand(self.metadata["issuer"] == SUBJECT["issuer"], "the issuer's own name")
        self.keys = KeySet.import_key_set(requests.get(self.metadata["jwks_uri"], timeout=30).json())
        self.web = OAuth2Session(
            SUBJECT["client_id"],
            SUBJECT["client_secret"],
            scope="openid email offline_access",
            redirect_uri=SUBJECT["redirect_uri"],
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic",
            revocation_endpoint_auth_method="client_secret_basic",
        )

    def sign_in(self):
        verifier, nonce = generate_token(64), secrets.token_urlsafe()
        address, state = self.web.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
        )
        token = self.web.fetch_token(
            self.metadata["token_endpoint"],
            authorization_response=ask("sign-in", address),
            code_verifier=verifier,
            state=state,
        )
        claims = jwt.decode(token["id_token"], self.keys, algorithms=["RS256"]).claims
        jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": SUBJECT["issuer"]},
            aud={"essential": True, "value": SUBJECT["client_id"]},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(claims)
        return token

    def code(self):
        self.token = self.sign_in()
        demand(self.token.get("refresh_token"), "a refresh token")

    def userinfo(self):
        answer = self.web.get(self.metadata["userinfo_endpoint"])
        demand(answer.json().get("email") == SUBJECT["email"], "the address of who signed in")

    def refresh(self):
        former = self.token["refresh_token"]
        self.token = self.web.refresh_token(self.metadata["token_endpoint"], refresh_token=former)
        demand(self.token["refresh_token"] != former, "another refresh token")

    def client_credentials(self):
        machine = OAuth2Session(SUBJECT["machine_id"], SUBJECT["machine_secret"])
        machine.fetch_token(self.metadata["token_endpoint"], grant_type="client_credentials")
        demand(machine.get(SUBJECT["api"]).status_code == 200, "200 of the API")

    def is_active(self):
        answer = self.web.introspect_token(
            self.metadata["introspection_endpoint"], token=self.token["access_token"]
        )
        return answer.json()["active"]

    def introspection(self):
        demand(self.is_active(), "an active token")

    def revocation(self):
        answer = self.web.revoke_token(
            self.metadata["revocation_endpoint"], token=self.token["refresh_token"]
        )
        demand(answer.status_code == 200, f"200, got {answer.status_code}")
        demand(not self.is_active(), "no active token")

    def sign_out(self):
        back = SUBJECT["post_logout_redirect_uri"]
        query = {"id_token_hint": self.sign_in()["id_token"], "post_logout_redirect_uri": back}
        address = requests.Request("GET", self.metadata["end_session_endpoint"], params=query).prepare().url
        end = ask("sign-out", address)
        demand(end == back, f"{back}, got {end}")


def main():
    walk = Walk()
    for flow in (
        "discovery",
        "code",
        "userinfo",
        "refresh",
        "client-credentials",
        "introspection",
        "revocation",
        "sign-out",
    ):
        try:
            getattr(walk, flow.replace("-", "_"))()
        except Exception as error:  # whatever a library throws is what came of the flow
            print("failed", flow, f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
            return
        print("passed", flow, flush=True)


main()
