import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { Caller, type Answer } from '@customer-platform/testing';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { TestCore } from '../core.fixture.js';
import { TOKEN_EXCHANGE, TOKEN_TYPES } from './token-exchange.dto.js';

/** Where tokens are exchanged. */
export const EXCHANGE = '/v1/core/members/token-exchange';
/** Where a member looks. */
export const ME = '/v1/core/members/me';

/** What an exchange answers. */
export interface Exchanged extends Record<string, unknown> {
  access_token: string;
  code: string;
}

/** An organization with a key that exchanges tokens, and with one contact. */
export interface MemberWorld {
  readonly organizationId: string;
  readonly key: string;
  readonly keyId: string;
  readonly contactId: string;
  readonly externalId: string;
}

/** A contact made by the API. */
export async function aMember(
  core: TestCore,
  organizationId: string,
  fields: Record<string, unknown> = {},
): Promise<{ contactId: string; externalId: string }> {
  const externalId = `person-${newId()}`;
  const admin = core.app.as(organizationId, ['core.contacts.create']);
  const { status, body } = await admin.post<{ id: string }>('/v1/core/contacts', {
    external_id: externalId,
    first_name: 'Ana',
    ...fields,
  });
  expect(status).toBe(201);
  return { contactId: body.id, externalId };
}

/** A fresh organization. */
export async function aMemberWorld(
  core: TestCore,
  permissions: readonly Permission[] = ['core.members.exchange'],
): Promise<MemberWorld> {
  const organizationId = newId();
  const key = core.app.registry.key({ organizationId, permissions });
  const keyId = core.app.registry.idOf(key);
  return { organizationId, key, keyId, ...(await aMember(core, organizationId)) };
}

/** A body that asks for a token by external id. */
export function byExternalId(externalId: string): Record<string, unknown> {
  return {
    grant_type: TOKEN_EXCHANGE,
    subject_token: externalId,
    subject_token_type: TOKEN_TYPES.externalId,
  };
}

/** A body that asks for a token by a JWT. */
export function byJwt(token: string): Record<string, unknown> {
  return { grant_type: TOKEN_EXCHANGE, subject_token: token, subject_token_type: TOKEN_TYPES.jwt };
}

/** A member's client, by the organization's key. */
export async function asMember(core: TestCore, { key, externalId }: MemberWorld): Promise<Caller> {
  const answer = await core.app.with(key).post<Exchanged>(EXCHANGE, byExternalId(externalId));
  expect(answer.status).toBe(200);
  return core.app.with(answer.body.access_token);
}

/** Puts a form instead of JSON. */
export async function postForm(
  core: TestCore,
  fields: Record<string, string>,
  key?: string,
): Promise<Answer<Exchanged>> {
  const response = await fetch(`${core.app.url}${EXCHANGE}`, {
    method: 'POST',
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    body: new URLSearchParams(fields),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Exchanged,
  };
}

/** A key by which an organization signs. */
export interface Signer {
  readonly kid: string;
  readonly jwk: JWK;
  readonly thumbprint: string;
  /** A tenant token about a person; claims and header as given, or as they should be. */
  sign(
    about: { organizationId: string; externalId: string },
    claims?: Record<string, unknown>,
    header?: Record<string, unknown>,
  ): Promise<string>;
}

/** A key pair for an algorithm. */
export async function aSigner(algorithm = 'ES256', kid = newId()): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm };
  return {
    kid,
    jwk,
    thumbprint: await calculateJwkThumbprint(jwk),
    sign: (about, claims = {}, header = {}) => signed(privateKey, algorithm, kid, about, claims, header),
  };
}

function signed(
  key: CryptoKey,
  algorithm: string,
  kid: string,
  about: { organizationId: string; externalId: string },
  claims: Record<string, unknown>,
  header: Record<string, unknown>,
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const payload: Record<string, unknown> = {
    iss: about.organizationId,
    aud: 'member-api',
    sub: about.externalId,
    exp: now + 60,
    jti: newId(),
    ...claims,
  };
  for (const [name, value] of Object.entries(payload)) if (value === undefined) delete payload[name];
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(key);
}
