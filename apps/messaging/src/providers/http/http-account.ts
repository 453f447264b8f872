import { Problem } from '@customer-platform/problem-json';
import type { Account } from '../provider.js';

/** What a webhook of `http` needs of its account. */
export type HttpAccount = Pick<Account, 'platform'> & {
  readonly setting: { readonly url: string };
  secret(field: 'secret'): string | undefined;
};

/** Whether a channel without a secret of its own goes to the platform's provider. */
export function isPlatforms({ setting, platform: { local, http } }: HttpAccount): boolean {
  return local && http?.url === setting.url;
}

/** Its own secret, or the platform's where the channel goes there. @throws Problem `invalid_signature` where it has none */
export function secretFor(account: HttpAccount): string {
  const secret =
    account.secret('secret') ?? (isPlatforms(account) ? account.platform.http?.secret : undefined);
  if (secret === undefined) throw new Problem('invalid_signature');
  return secret;
}
