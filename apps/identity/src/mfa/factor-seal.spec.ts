import { randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';
import { Database, reencrypt } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { Secret, TOTP } from 'otpauth';
import { IdentityBench } from '../identity-app.fixture.js';
import { sealedFactors } from './factor-seal.js';
import type { EnrolledFactorDto } from './mfa.dto.js';

const MFA = '/v1/identity/mfa';
const next = { id: 'next', key: randomBytes(32) };
const rotating: Keyring = { root: Buffer.alloc(32, 7), sealing: [next] };

let bench: IdentityBench;
beforeAll(async () => {
  const root = rotating.root.toString('base64');
  bench = await IdentityBench.start({ ENCRYPTION_KEYS: `0:${root},next:${next.key.toString('base64')}` });
});
afterAll(() => bench.end());

it('second factors hold when their secrets have been sealed by the next key', async () => {
  const user = await bench.signedIn(await bench.organization(), 'analyst');
  const enrolled = await user.caller.post<EnrolledFactorDto>(`${MFA}/enroll`, {
    type: 'totp',
    name: 'Phone',
  });
  expectStatus(enrolled, 200);
  const { factor_id: id, secret } = enrolled.body;
  const database = bench.app.app.get(Database, { strict: false });
  const root = { id: '0', key: rotating.root };
  const column = sealedFactors({ ...rotating, sealing: [next, root] });
  expect(await reencrypt(database, column)).toMatchObject({ reencrypted: 1, unreadable: 0 });
  expect(await reencrypt(database, sealedFactors(rotating))).toMatchObject({ reencrypted: 0, unreadable: 0 });
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  expectStatus(await user.caller.post(`${MFA}/verify`, { factor_id: id, code }), 200);
});
