import { randomUUID } from 'node:crypto';

/** A valid body of `POST /v1/identity/sso-connections`. */
export function anSsoConnection(fields: object = {}): Record<string, unknown> {
  return {
    name: 'Somewhere else',
    protocol: 'oidc',
    issuer: 'https://idp.example.com',
    client_id: 'platform',
    client_secret: 'a-secret-of-the-provider',
    domains: [aDomain()],
    ...fields,
  };
}

/** A domain nobody else has. */
export function aDomain(): string {
  return `${randomUUID()}.example`;
}
