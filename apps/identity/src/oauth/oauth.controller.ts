import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res } from '@nestjs/common';
import { Answer, Endpoint, formFields, readBytes } from '@customer-platform/http';
import { Jwks } from './jwks.js';
import { Providers } from './providers.js';
import { ROUTES } from './routes.js';

const GET = { method: 'GET', authorization: 'protocol', body: 'stream' } as const;
const POST = { method: 'POST', authorization: 'protocol', body: 'stream' } as const;
/** Where the pages of a public client ask from its redirect URIs' origins; the provider looks at which. */
const FROM_PAGES = { crossOrigin: true } as const;
/** What a form can hold that is to become an address. */
const FORM_BYTES = 8_192;
const JWKS_TYPE = 'application/jwk-set+json; charset=utf-8';

/** OAuth 2 and OpenID Connect (identity.md §7). Errors have the protocol's form. */
@Controller()
export class OAuthController {
  constructor(
    private readonly providers: Providers,
    private readonly jwks: Jwks,
  ) {}

  @Endpoint({ ...GET, path: 'oauth/authorize', success: 303, summary: 'Ask a user to sign in with a client' })
  authorize(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...POST,
    path: 'oauth/authorize',
    success: 303,
    summary: 'The same by a form',
    description: 'Answered by a redirect to the same request as a GET.',
  })
  authorizeByForm(@Req() request: IncomingMessage): Promise<Answer> {
    return byAddress(ROUTES.authorization, request);
  }

  @Endpoint({
    ...GET,
    path: 'oauth/authorize/:uid',
    success: 303,
    summary: 'Go on with a sign-in after a step of it',
  })
  resume(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...POST,
    ...FROM_PAGES,
    path: 'oauth/token',
    summary: 'Exchange a code, a refresh token or client credentials',
  })
  token(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...GET,
    ...FROM_PAGES,
    path: 'oauth/userinfo',
    summary: 'What the client may know of the user',
  })
  userinfo(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...POST,
    ...FROM_PAGES,
    path: 'oauth/userinfo',
    summary: 'What the client may know of the user, by a form',
  })
  userinfoByForm(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...POST,
    ...FROM_PAGES,
    path: 'oauth/revoke',
    summary: 'Revoke a token (RFC 7009)',
    description: 'Ends the session that it is of. A token by client credentials cannot be revoked.',
  })
  revoke(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({ ...POST, path: 'oauth/introspect', summary: 'Whether a token is good (RFC 7662)' })
  introspect(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...GET,
    path: 'oauth/logout',
    summary: 'Sign out of this browser, as a client asks',
    description: 'The user agrees on a page. Where nobody is signed in, a redirect to where it would lead.',
  })
  logout(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...POST,
    path: 'oauth/logout',
    success: 303,
    summary: 'The same by a form',
    description: 'Answered by a redirect to the same request as a GET.',
  })
  logoutByForm(@Req() request: IncomingMessage): Promise<Answer> {
    return byAddress(ROUTES.end_session, request);
  }

  @Endpoint({
    ...POST,
    path: 'oauth/logout/confirm',
    success: 303,
    summary: 'The user has said whether to sign out',
  })
  confirmLogout(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({ ...GET, path: 'oauth/logout/success', summary: 'The page after signing out' })
  signedOut(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...GET,
    path: '.well-known/openid-configuration',
    summary: 'What the provider can do (Discovery)',
  })
  discovery(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...GET,
    path: '.well-known/oauth-authorization-server',
    summary: 'What the provider can do (RFC 8414)',
  })
  metadata(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.providers.serve(request, response);
  }

  @Endpoint({
    ...GET,
    path: '.well-known/jwks.json',
    summary: 'The public keys of all the platform’s tokens',
    description:
      'A key is shown for a day before it signs, and until the last token that it signed has ended.',
  })
  async keys(): Promise<Answer> {
    const headers = {
      'Content-Type': JWKS_TYPE,
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=300',
    };
    return new Answer(JSON.stringify({ keys: await this.jwks.keys() }), headers);
  }
}

/**
 * A form from another site comes without the cookies that say who is signed in, for they are `SameSite=Lax`; the redirect
 * that answers it comes with them.
 */
async function byAddress(path: string, request: IncomingMessage): Promise<Answer> {
  const bytes = await readBytes(request, { body: 'form', bodyLimit: FORM_BYTES, gzip: false });
  return Answer.redirect(`${path}?${new URLSearchParams(formFields(bytes)).toString()}`, 303);
}
