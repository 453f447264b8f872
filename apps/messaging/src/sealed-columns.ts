import type { Keyring } from '@customer-platform/config';
import { sealedSigningKeys, type SealedColumn } from '@customer-platform/database';
import { placeOf } from './settings/channels/channel-secrets.js';
import { ALGORITHMS, placeOf as placeOfKey, type DkimPair } from './settings/sender-domains/dkim-pairs.js';
import { placeOf as placeOfEndpoint, type SigningSecret } from './webhook-endpoints/signing-secrets.js';
import { SecretBox, type SealedSecret } from './vocabulary/secrets/secret-box.js';

type SecretsByChannel = Record<string, Record<string, SealedSecret>>;

/** All that messaging keeps sealed. */
export function sealedColumns(keyring: Keyring) {
  const box = new SecretBox(keyring);
  return [
    channelSettings(box),
    webhookEndpoints(box),
    senderDomains(box),
    sealedSigningKeys('messaging', keyring),
  ];
}

function channelSettings(box: SecretBox): SealedColumn<SecretsByChannel> {
  return {
    table: 'channel_settings',
    column: 'secrets',
    key: ['organization_id'],
    type: 'jsonb',
    renew: ({ organization_id: organization = '', content }) => {
      let renewed = false;
      const of = (channel: string, field: string, secret: SealedSecret): SealedSecret => {
        const anew = box.renew(secret, placeOf(organization, channel, field));
        renewed ||= anew !== secret;
        return anew;
      };
      const all = mapped(content, (channel, fields) =>
        mapped(fields, (field, secret) => of(channel, field, secret)),
      );
      return renewed ? all : undefined;
    },
  };
}

function webhookEndpoints(box: SecretBox): SealedColumn<SigningSecret[]> {
  return {
    table: 'webhook_endpoints',
    column: 'secrets',
    key: ['organization_id', 'id'],
    type: 'jsonb',
    renew: ({ organization_id: organization = '', id = '', content }) => {
      const all = content.map((secret) => box.renew(secret, placeOfEndpoint(organization, id)));
      return all.some((secret, index) => secret !== content[index]) ? all : undefined;
    },
  };
}

function senderDomains(box: SecretBox): SealedColumn<DkimPair[]> {
  return {
    table: 'sender_domains',
    column: 'dkim_keys',
    key: ['organization_id', 'id'],
    type: 'jsonb',
    renew: ({ organization_id: organizationId = '', id = '', content }) => {
      let renewed = false;
      const all = content.map((pair) => {
        const keys = ALGORITHMS.map((algorithm) => {
          const { private: sealed } = pair[algorithm];
          if (sealed === null) return [algorithm, pair[algorithm]];
          const anew = box.renew(sealed, placeOfKey({ organizationId, id }, pair.selector, algorithm));
          renewed ||= anew !== sealed;
          return [algorithm, { ...pair[algorithm], private: anew }];
        });
        return { ...pair, ...Object.fromEntries(keys) } as DkimPair;
      });
      return renewed ? all : undefined;
    },
  };
}

function mapped<T>(values: Record<string, T>, change: (name: string, value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
