import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { ROUTES } from './routes.js';

/** What the provider has answered; without `oidc` where it has no such route. */
interface Answered {
  readonly oidc?: KoaContextWithOIDC['oidc'];
  readonly path: string;
  status: number;
  body: unknown;
  remove: (header: string) => void;
  redirect: (to: string) => void;
}

/**
 * A cookie that nobody knows, or no longer, is as good as none: the provider would keep a new session for it, in which
 * nobody has signed in.
 */
export function dropUnknownSessions({ Session }: Provider): void {
  const models = Session as unknown as { instantiate: (payload?: object) => unknown };
  const instantiate = models.instantiate.bind(models);
  models.instantiate = (payload) =>
    instantiate(payload === undefined || Object.keys(payload).length === 0 ? undefined : payload);
}

/**
 * Who has not signed in has nothing to confirm. Where the provider would write down what is to be confirmed and send a
 * form by script, the browser goes on at once: the parameters have been checked by then.
 */
export function answerLogoutWithoutSession(ctx: Answered): void {
  const { oidc } = ctx;
  if (ctx.path !== ROUTES.end_session || ctx.status !== 200 || !oidc || oidc.session?.accountId) return;
  const { postLogoutRedirectUri: after, state } = oidc.session?.state ?? {};
  ctx.remove('set-cookie');
  ctx.body = null;
  ctx.status = 303;
  ctx.redirect(typeof after === 'string' ? withState(after, state) : `${ROUTES.end_session}/success`);
}

/** The address is exactly one that its client has registered. */
function withState(address: string, state: unknown): string {
  if (typeof state !== 'string') return address;
  const url = new URL(address);
  url.searchParams.set('state', state);
  return url.href;
}
