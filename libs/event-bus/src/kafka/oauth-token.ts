import { readFile } from 'node:fs/promises';
import { log } from '@customer-platform/http';
import type { OauthbearerProviderResponse } from 'kafkajs';

const ANSWER_WITHIN_MS = 5_000;
/** A token is used for this part of its life: what it opened is asked for another before it ends. */
const PART_OF_LIFE = 0.8;
/** What a server that does not say how long a token lives is taken for. */
const UNSAID_SECONDS = 60;

/** Who asks for tokens, and where. */
interface TokenClient {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string;
}

type Provider = () => Promise<OauthbearerProviderResponse>;

/** The token in a file that something else renews, such as a signer of AWS MSK or a projected volume. */
export function tokenOfFile(path: string, extensions: Record<string, string>): Provider {
  return async () => ({ value: (await readFile(path, 'utf8')).trim(), extensions });
}

/** A token by client credentials (RFC 6749 §4.4), kept for most of its life and asked for once at a time. */
export function fetchedToken(client: TokenClient, extensions: Record<string, string>): Provider {
  let kept: { value: string; until: number } | undefined;
  let underway: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const { token, seconds } = await ask(client);
    kept = { value: token, until: Date.now() + seconds * 1_000 * PART_OF_LIFE };
    return token;
  };
  return async () => {
    if (kept && Date.now() < kept.until) return { value: kept.value, extensions };
    underway ??= renew().finally(() => {
      underway = undefined;
    });
    return { value: await underway, extensions };
  };
}

async function ask({
  url,
  clientId,
  clientSecret,
  scope,
}: TokenClient): Promise<{ token: string; seconds: number }> {
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${credentials.toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (!answer.ok) throw new Error(`the status was ${String(answer.status)}`);
    const { access_token: token, expires_in: seconds } = (await answer.json()) as Record<string, unknown>;
    if (typeof token !== 'string' || token === '') throw new Error('there was no access_token in the answer');
    return { token, seconds: Number(seconds) > 0 ? Number(seconds) : UNSAID_SECONDS };
  } catch (cause) {
    log.warn({ err: cause }, 'There is no token for Kafka');
    throw new Error(
      `KAFKA_OAUTH_TOKEN_URL gave no token: ${cause instanceof Error ? cause.message : 'no answer'}`,
      {
        cause,
      },
    );
  }
}
