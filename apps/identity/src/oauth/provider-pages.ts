import { Injectable } from '@nestjs/common';
import { shortName } from '@customer-platform/problem-json';
import { errors, type ErrorOut, type KoaContextWithOIDC } from 'oidc-provider';
import { html, Html } from '../pages/html.js';
import { languageOf } from '../pages/languages.js';
import { pageHeaders, type Page } from '../pages/page.js';
import { BrowserStates } from './browser-states.js';
import { ROUTES } from './routes.js';
import { protocolErrorPage, signedOutPage, signOutPage } from '../pages/plain-pages.js';

/** A request, also one that the provider has not looked at. */
type Asked = Pick<KoaContextWithOIDC, 'req' | 'status' | 'body' | 'set' | 'accepts'> &
  Partial<Pick<KoaContextWithOIDC, 'oidc'>>;

/** Faults that are over when the same is asked again in a moment. */
const PASSES = new Set(['temporarily_unavailable', 'server_error']);
/** The id that the provider gives its form. */
const SIGN_OUT_FORM = 'op.logoutForm';
/** The field in which it keeps what was asked, for who sends it twice. */
const AGAIN = 'again';

/** The pages that the provider itself shows, as those of signing in look and under the same policy. */
@Injectable()
export class ProviderPages {
  constructor(private readonly states: BrowserStates) {}

  /** Answers what could not be answered: where the way on is known it sends the browser there, and its user sees no page. */
  async failed(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void> {
    const way = error instanceof errors.SessionNotFound ? await this.wayOf(ctx.path) : signOutAgain(ctx.oidc);
    if (way === undefined) {
      this.error(ctx, out);
      return;
    }
    ctx.status = 303;
    ctx.redirect(way);
  }

  /** The address at which a sign-in that is over is begun anew. */
  private async wayOf(path: string): Promise<string | undefined> {
    const params = await this.states.beginningOf(path.slice(path.lastIndexOf('/') + 1));
    return params && againAt(params);
  }

  /** An authorization request that cannot be sent back to its client, told to whoever sees it. */
  error(ctx: Asked, { error, error_description: description }: ErrorOut): void {
    const said = description === undefined ? error : `${error}: ${description}`;
    const passes = PASSES.has(error) && ctx.req.method === 'GET';
    show(ctx, protocolErrorPage(languageIn(ctx), said, passes ? ctx.req.url : undefined));
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
    const target = typeof after === 'string' ? sourceAt(after) : undefined;
    const again = html`<input
      type="hidden"
      form="${SIGN_OUT_FORM}"
      name="${AGAIN}"
      value="${ctx.querystring}"
    />`;
    const page = signOutPage(languageIn(ctx), html`${new Html(form)}${again}`, SIGN_OUT_FORM);
    show(ctx, page, target === undefined ? [] : [target]);
  }

  /** That one has signed out, where the client has named no page of its own. */
  signedOut(ctx: KoaContextWithOIDC): void {
    show(ctx, signedOutPage(languageIn(ctx)));
  }
}

/** The authorization request of a sign-in, from its beginning. */
export function againAt(params: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return `${ROUTES.authorization}?${new URLSearchParams(texts).toString()}`;
}

/** Who has signed out and says so again, or in a page that another has replaced, is where the request led. */
function signOutAgain({ route, body }: KoaContextWithOIDC['oidc']): string | undefined {
  const asked = route === 'end_session_confirm' ? body?.[AGAIN] : undefined;
  return typeof asked === 'string'
    ? `${ROUTES.end_session}?${new URLSearchParams(asked).toString()}`
    : undefined;
}

/** Where an address leads, as a content security policy names it: a scheme of an application's own has no origin. */
function sourceAt(address: string): string | undefined {
  const url = URL.parse(address);
  return url?.origin === 'null' ? url.protocol : url?.origin;
}

/** The status is the provider's. */
function show(ctx: Asked, { html }: Page, targets: readonly string[] = []): void {
  ctx.set(pageHeaders(targets));
  ctx.body = html.text;
}

function languageIn({ req, oidc }: Asked) {
  return languageOf(oidc?.params?.['ui_locales'], req.headers['accept-language']);
}
