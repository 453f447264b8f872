import { askToken, assertionGrant } from '../access-token.js';
import { readServiceAccount } from '../service-account.js';
import { TokenSource } from '../token-source.js';
import type { SpeakerTools } from '../transport-config.js';

/** Of a service account that says none. */
const SCOPE_OF_GOOGLE = 'https://mail.google.com/';

/** What of the settings says how tokens are asked for. */
interface TokenSetting {
  readonly username?: string | null | undefined;
  readonly token_url?: string | null | undefined;
  readonly client_id?: string | null | undefined;
  readonly scope?: string | null | undefined;
}

type Grant = (now: Date) => Record<string, string> | Promise<Record<string, string>>;

/**
 * Where a mail server's access tokens come from (messaging.md §2); undefined where something is missing. A service
 * account signs for the mailbox; else a refresh token says whose it is; else the client has credentials of its own.
 */
export function mailTokens(
  setting: TokenSetting,
  secret: (field: 'client_secret' | 'refresh_token' | 'service_account') => string | undefined,
): ((tools: SpeakerTools) => TokenSource) | undefined {
  const { token_url: tokenUrl } = setting;
  const grant = tokenUrl ? grantOf(tokenUrl, setting, secret) : undefined;
  if (!tokenUrl || !grant) return undefined;
  return (tools) => new TokenSource(async () => askToken(tokenUrl, await grant(tools.now()), tools));
}

function grantOf(
  tokenUrl: string,
  { username, client_id: clientId, scope }: TokenSetting,
  secret: Parameters<typeof mailTokens>[1],
): Grant | undefined {
  const account = readServiceAccount(secret('service_account') ?? '');
  if (account) {
    const subject = username ?? '';
    return (now) => assertionGrant(account, { tokenUrl, scope: scope ?? SCOPE_OF_GOOGLE, subject, now });
  }
  if (!clientId) return undefined;
  const clientSecret = secret('client_secret');
  const client = {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(scope ? { scope } : {}),
  };
  const refreshToken = secret('refresh_token');
  if (refreshToken !== undefined)
    return () => ({ grant_type: 'refresh_token', refresh_token: refreshToken, ...client });
  return clientSecret === undefined ? undefined : () => ({ grant_type: 'client_credentials', ...client });
}
