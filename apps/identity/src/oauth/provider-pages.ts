import { Injectable } from '@nestjs/common';
import { shortName } from '@customer-platform/problem-json';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { Html } from '../pages/html.js';
import { languageOf } from '../pages/languages.js';
import { pageHeaders, type Page } from '../pages/page.js';
import { protocolErrorPage, signedOutPage, signOutPage } from '../pages/plain-pages.js';

/** A request, also one that the provider has not looked at. */
type Asked = Pick<KoaContextWithOIDC, 'req' | 'status' | 'body' | 'set' | 'accepts'> &
  Partial<Pick<KoaContextWithOIDC, 'oidc'>>;

/** The id that the provider gives its form. */
const SIGN_OUT_FORM = 'op.logoutForm';

/** The pages that the provider itself shows, as those of signing in look and under the same policy. */
@Injectable()
export class ProviderPages {
  /** An authorization request that cannot be sent back to its client, told to whoever sees it. */
  error(ctx: Asked, { error, error_description: description }: ErrorOut): void {
    const said = description === undefined ? error : `${error}: ${description}`;
    show(ctx, protocolErrorPage(languageIn(ctx), said));
  }

  /** A request of which no part can be kept, so that nothing of it is sent back either: the provider does not see it. */
  unstorable(ctx: Asked, parameter: string): void {
    const error = {
      error: 'invalid_request',
      error_description: `${shortName(parameter)} holds a character that no text may`,
    };
    ctx.status = 400;
    if (ctx.accepts('json', 'html') === 'html') this.error(ctx, error);
    else ctx.body = error;
  }

  /** Asks whether to sign out; `form` is the provider's own, with its proof against forgery. */
  signOut(ctx: KoaContextWithOIDC, form: string): void {
    const after = ctx.oidc.session?.state?.['postLogoutRedirectUri'];
    const target = typeof after === 'string' ? URL.parse(after)?.origin : undefined;
    const page = signOutPage(languageIn(ctx), new Html(form), SIGN_OUT_FORM);
    show(ctx, page, target === undefined ? [] : [target]);
  }

  /** That one has signed out, where the client has named no page of its own. */
  signedOut(ctx: KoaContextWithOIDC): void {
    show(ctx, signedOutPage(languageIn(ctx)));
  }
}

/** The status is the provider's. */
function show(ctx: Asked, { html }: Page, targets: readonly string[] = []): void {
  ctx.set(pageHeaders(targets));
  ctx.body = html.text;
}

function languageIn({ req, oidc }: Asked) {
  return languageOf(oidc?.params?.['ui_locales'], req.headers['accept-language']);
}
