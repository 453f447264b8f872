import { Clock, newId } from '@customer-platform/database';
import { DatabaseFault } from '@customer-platform/testing';
import { IdentityBench } from '../identity-app.fixture.js';
import { PasswordResetIssuing } from './password-reset-issuing.js';

describe('the issuing of password resets', () => {
  let bench: IdentityBench;
  let issuing: PasswordResetIssuing;
  let ahead = 0;
  beforeAll(async () => {
    // The job is run by the tests alone.
    bench = await IdentityBench.start({ PROCESS_ROLE: 'api' });
    bench.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    issuing = bench.app.app.get(PasswordResetIssuing, { strict: false });
  });
  afterAll(() => bench.end());

  /** Somebody has asked for a password. */
  const request = async (): Promise<string> => {
    const { id } = await bench.organization([]);
    const email = `${newId()}@example.com`;
    await bench.database.query(
      `INSERT INTO users (organization_id, id, email, name, status, created_at, updated_at)
       VALUES ($1, $2, $3, 'Somebody', 'active', now(), now())`,
      [id, newId(), email],
    );
    await bench.database.query(
      `INSERT INTO password_reset_requests (organization_id, id, email, correlation_id)
       SELECT organization_id, $2, $1, gen_random_uuid() FROM organizations WHERE parent_id IS NULL`,
      [email, newId()],
    );
    return email;
  };
  const waiting = async (): Promise<string[]> => {
    const rows = await bench.database.query<{ email: string }>(
      'SELECT email FROM password_reset_requests ORDER BY id',
    );
    return rows.map(({ email }) => email);
  };

  it.each(['P0001', '57014'])('goes on beside a request that cannot be taken (%s)', async (code) => {
    const failing = await request();
    const fault = await DatabaseFault.in(bench.database, {
      table: 'password_reset_requests',
      on: 'DELETE',
      when: `OLD.email = '${failing}'`,
      code,
    });
    try {
      await request();
      await issuing.runAll();
      expect(await waiting()).toEqual([failing]);
    } finally {
      await fault.mend();
    }
    ahead += 60_000;
    await issuing.runAll();
    expect(await waiting()).toEqual([]);
  });

  it('comes to whoever asks before it comes again to those of whom it failed', async () => {
    const failing = [await request(), await request()];
    const fault = await DatabaseFault.in(bench.database, {
      table: 'password_resets',
      on: 'INSERT',
      when: `(SELECT email FROM users WHERE id = NEW.user_id) IN ('${failing.join("', '")}')`,
      code: '57014',
    });
    try {
      await issuing.runAll();
      ahead += 60_000;
      await request();
      await issuing.runNext();
      expect(await waiting()).toEqual(failing);
    } finally {
      await fault.mend();
    }
    await issuing.runAll();
    expect(await waiting()).toEqual([]);
  });
});
