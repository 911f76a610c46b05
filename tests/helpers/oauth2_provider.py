"""A real provider of OAuth 2 on a port of this machine: Authlib's server, with its device flow.

with Provider() as provider:
    # ... a client asks provider.url + "device"; a person enters the code on the page:
    provider.enter(code)
"""

import threading
import time
import urllib.parse
import urllib.request

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, RefreshTokenGrant
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from flask import Flask, request
from werkzeug.serving import WSGIRequestHandler, make_server

from helpers.imap_mailbox import HOST, USER

CLIENT, SCOPE = "spamnb-of-the-tests", "imap offline_access"
MAIL_SERVER, ITS_SECRET = "dovecot", "of-the-mail-server"  # may ask which tokens are good


class Client(ClientMixin):
    """The public one, which has no secret; the mail server has one."""

    def __init__(self, name):
        self.name = name

    def get_client_id(self):
        return self.name

    def get_allowed_scope(self, scope):
        return scope

    def check_client_secret(self, client_secret):
        return (self.name, client_secret) == (MAIL_SERVER, ITS_SECRET)

    def check_endpoint_auth_method(self, method, _):
        return (method == "none") == (self.name == CLIENT)

    def check_grant_type(self, _):
        return self.name == CLIENT


class Token:
    """An access token, and the refresh token that came with it."""

    def __init__(self, values, user):
        self.access, self.refresh = values["access_token"], values["refresh_token"]
        self.scope, self.user = values.get("scope", ""), user
        self.is_over = False  # the access token
        self.is_used = False  # the refresh token

    def check_client(self, client):
        return client.get_client_id() == CLIENT

    def get_scope(self):
        return self.scope

    def is_expired(self):
        return self.is_over

    def is_revoked(self):
        return False


class Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        pass


class Provider:
    """Authlib's server, and what it knows; a refresh token is good for one use.

    `lifetime` is what it says of access tokens, in seconds; `answered` has the form and the status of each
    request; `slow` says how often it asks a client to slow down; `before` and `after` are called with forms.
    """

    def __init__(self, certificate=None):
        self.reset()
        self.server = make_server(
            HOST, 0, self.app(), threaded=True, ssl_context=certificate, request_handler=Quiet
        )
        scheme, name = ("https", "localhost") if certificate else ("http", HOST)
        self.place = f"{name}:{self.server.server_port}"
        self.url = f"{scheme}://{self.place}/"

    def reset(self):
        self.lifetime, self.expires_in, self.slow = 3600, 1800, 0
        self.before = self.after = lambda _: None
        self.devices, self.grants, self.tokens, self.answered = {}, {}, [], []

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def table(self):
        """What imap.toml says of it."""
        return {
            "device_url": self.url + "device",
            "token_url": self.url + "token",
            "client_id": CLIENT,
            "scope": SCOPE,
        }

    @property
    def introspection(self):
        return f"http://{MAIL_SERVER}:{ITS_SECRET}@{self.place}/introspect"

    def enter(self, code, verdict="allow"):
        """Do what a person does on the page."""
        form = urllib.parse.urlencode({"code": code, "verdict": verdict}).encode()
        with urllib.request.urlopen(self.url + "page", form) as answer:
            assert answer.read() == b"you can close this page"

    def app(self):
        provider, app = self, Flask("provider")
        app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True

        class Device(DeviceAuthorizationEndpoint):
            INTERVAL = 0

            def create_endpoint_response(self, request):
                self.EXPIRES_IN = provider.expires_in
                return super().create_endpoint_response(request)

            def get_verification_uri(self):
                return provider.url + "page"

            def save_device_credential(self, client_id, scope, data):
                found = DeviceCredentialDict(data, client_id=client_id, scope=scope)
                found["expires_at"] = time.time() + provider.expires_in
                provider.devices[data["device_code"]] = found

        class DeviceGrant(DeviceCodeGrant):
            def query_device_credential(self, device_code):
                return provider.devices.get(device_code)

            def query_user_grant(self, user_code):
                return provider.grants.get(user_code)

            def should_slow_down(self, _):
                provider.slow -= 1
                return provider.slow >= 0

        class RefreshGrant(RefreshTokenGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
            INCLUDE_NEW_REFRESH_TOKEN = True

            def authenticate_refresh_token(self, refresh_token):
                for token in provider.tokens:
                    if token.refresh == refresh_token and not token.is_used:
                        return token
                return None

            def authenticate_user(self, refresh_token):
                return refresh_token.user

            def revoke_old_credential(self, refresh_token):
                refresh_token.is_used = True

        class Introspection(IntrospectionEndpoint):
            def check_permission(self, _, client, *__):
                return client.get_client_id() == MAIL_SERVER

            def query_token(self, token_string, _):
                return next((token for token in provider.tokens if token.access == token_string), None)

            def introspect_token(self, token):
                return {"active": True, "username": token.user}

        def save(values, request):
            values["expires_in"] = provider.lifetime
            provider.tokens.append(Token(values, request.user))

        server = AuthorizationServer(
            app, lambda name: Client(name) if name in (CLIENT, MAIL_SERVER) else None, save
        )
        for endpoint in (Device, Introspection):
            server.register_endpoint(endpoint)
        for grant in (DeviceGrant, RefreshGrant):
            server.register_grant(grant)

        @app.before_request
        def wait():
            provider.before(request.form)

        @app.after_request
        def note(answer):
            provider.answered.append((request.form.to_dict(), answer.status_code))
            provider.after(request.form)
            return answer

        @app.post("/device")
        def device():
            return server.create_endpoint_response(Device.ENDPOINT_NAME)

        @app.post("/introspect")
        def introspect():
            return server.create_endpoint_response(Introspection.ENDPOINT_NAME)

        @app.post("/token")
        def token():
            return server.create_token_response()

        @app.post("/page")
        def page():
            provider.grants[request.form["code"]] = (USER, request.form["verdict"] == "allow")
            return "you can close this page"

        return app
