import { Clock, newId } from '@customer-platform/database';
import { DatabaseFault, expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench } from '../identity-app.fixture.js';
import { SessionBeginnings } from '../sessions/session-beginnings.js';
import { DomainProofs } from './domain-proofs.js';
import { DomainRecheck } from './domain-recheck.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { SsoBench, type TestConnection } from './sso-bench.fixture.js';
import { aDomain } from './sso-connection.fixture.js';
import type { SsoConnectionDto } from './sso-connection.dto.js';

const HOURS = 3_600_000;

describe('the daily look at the proofs of SSO domains', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let ahead = 0;

  beforeAll(async () => {
    provider = await HostileProvider.start();
    // The job is run by the tests alone.
    bench = await SsoBench.start((variables) => IdentityBench.start({ ...variables, PROCESS_ROLE: 'api' }));
    bench.identity.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(() => {
    ahead = 0;
  });

  const pathOf = ({ id }: TestConnection): string => `/v1/identity/sso-connections/${id}`;
  const read = async (connection: TestConnection): Promise<SsoConnectionDto> => {
    const answer = await connection.organization.admin.get<SsoConnectionDto>(pathOf(connection));
    expectStatus(answer, 200);
    return answer.body;
  };
  const statuses = async (connection: TestConnection): Promise<string[]> =>
    (await read(connection)).domain_proofs.map(({ status }) => status);
  const withdraw = async (connection: TestConnection): Promise<void> => {
    for (const proof of (await read(connection)).domain_proofs) bench.dns.withdraw(proof);
  };
  const later = async (hours: number): Promise<void> => {
    ahead += hours * HOURS;
    await bench.identity.app.app.get(DomainRecheck, { strict: false }).runAll();
  };
  const session = async ({ id, organization }: TestConnection, domain: string): Promise<string> => {
    const { userId } = await bench.identity.signedIn(organization, 'analyst');
    await bench.identity.within(organization.id, async (tx) => {
      await tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, `${userId}@${domain}`]);
      return bench.identity.app.app.get(SessionBeginnings, { strict: false }).begin(tx, {
        userId,
        organizationId: organization.id,
        amr: ['fed'],
        correlationId: newId(),
        connectionId: id,
      });
    });
    return userId;
  };
  const revoked = async (userId: string): Promise<number> =>
    (await bench.identity.endings(userId)).filter((reason) => reason === 'revoked').length;

  it('says that a proof is missing, and takes it back once it is there', async () => {
    const connection = await bench.connection(provider.issuer);
    const [proof] = (await read(connection)).domain_proofs;
    await later(25);
    expect(await statuses(connection)).toEqual(['proven']);
    await withdraw(connection);
    await later(25);
    const failing = await read(connection);
    expect(failing.domain_proofs).toEqual([
      { ...proof, status: 'failing', failing_since: expect.any(String) as string },
    ]);
    expect(await bench.sso.forEmail(`ana@${connection.domain}`)).toBeDefined();
    bench.dns.publish(proof ?? { name: '', value: '' });
    await later(25);
    expect(await statuses(connection)).toEqual(['proven']);
  });

  it('after 72 h lets nobody of the domain in, and the people of its others stay', async () => {
    const kept = aDomain();
    const connection = await bench.connection(provider.issuer, { domains: [aDomain(), kept] });
    const [lost] = (await read(connection)).domains;
    if (lost === undefined) throw new Error('there are two domains');
    const out = await session(connection, lost);
    const stays = await session(connection, kept);
    const [proof] = (await read(connection)).domain_proofs;
    bench.dns.withdraw(proof ?? { name: '' });
    await later(25);
    await later(71);
    expect([await statuses(connection), await revoked(out)]).toEqual([['failing', 'proven'], 0]);
    await later(2);
    expect(await statuses(connection)).toEqual(['failed', 'proven']);
    expect([await revoked(out), await revoked(stays)]).toEqual([1, 0]);
    await expect(session(connection, lost)).rejects.toMatchObject({ code: 'sign_in_required' });
    expect(await bench.sso.forEmail(`ana@${lost}`)).toBeUndefined();
    expect(await bench.sso.forEmail(`ana@${kept}`)).toBeDefined();
  });

  it('lets a domain that was lost be proven again by activating, and refuses no other change for it', async () => {
    const connection = await bench.connection(provider.issuer);
    const { admin } = connection.organization;
    const { domain_proofs: proofs } = await read(connection);
    await withdraw(connection);
    await later(25);
    await later(73);
    expectStatus(await admin.patch(pathOf(connection), { name: 'Renamed' }), 200);
    expectStatus(await admin.patch(pathOf(connection), { client_secret: 'another' }), 200);
    expect(await statuses(connection)).toEqual(['failed']);
    expectProblem(await admin.patch(pathOf(connection), { status: 'active' }), 409, 'domain_unverified');
    for (const proof of proofs) bench.dns.publish(proof);
    expectStatus(await admin.patch(pathOf(connection), { status: 'active' }), 200);
    expect(await statuses(connection)).toEqual(['proven']);
    expect(await bench.sso.forEmail(`ana@${connection.domain}`)).toBeDefined();
  });

  it('leaves a domain that was lost to another organization that proves it', async () => {
    const connection = await bench.connection(provider.issuer);
    const domains = [connection.domain];
    await withdraw(connection);
    await later(25);
    await later(73);
    const next = await bench.connection(provider.issuer, { domains });
    expect(await bench.sso.forEmail(`ana@${connection.domain}`)).toMatchObject({ connectionId: next.id });
    const { admin } = connection.organization;
    await withdraw(connection);
    expectProblem(await admin.patch(pathOf(connection), { status: 'active' }), 409, 'domain_unverified');
  });

  it('counts no silence of name servers', async () => {
    const connection = await bench.connection(provider.issuer);
    bench.dns.silent.add(connection.domain);
    await later(25);
    await later(73);
    expect(await statuses(connection)).toEqual(['proven']);
    bench.dns.silent.delete(connection.domain);
  });

  it.each(['P0001', '57014'])('goes on beside one that cannot be taken (%s)', async (code) => {
    const [failing, other] = [
      await bench.connection(provider.issuer),
      await bench.connection(provider.issuer),
    ];
    for (const connection of [failing, other]) await withdraw(connection);
    const fault = await DatabaseFault.in(bench.identity.database, {
      table: 'sso_domains',
      on: 'UPDATE',
      when: `OLD.organization_id = '${failing.organization.id}'`,
      code,
    });
    try {
      await later(25);
      expect([await statuses(failing), await statuses(other)]).toEqual([['proven'], ['failing']]);
    } finally {
      await fault.mend();
    }
    await later(1);
    expect(await statuses(failing)).toEqual(['failing']);
  });

  it.each([['issuer'], ['client_id']])(
    'asks for a proof that names the provider once the release before has changed the %s',
    async (column) => {
      const connection = await bench.connection(provider.issuer);
      const { database } = bench.identity;
      await database.query('UPDATE sso_domains SET names_provider = false WHERE connection_id = $1', [
        connection.id,
      ]);
      await withdraw(connection);
      const { organization, domain } = connection;
      const proofs = bench.identity.app.app.get(DomainProofs, { strict: false });
      bench.dns.publish(proofs.ofOrganization({ organizationId: organization.id }, domain));
      await later(25);
      expect(await statuses(connection)).toEqual(['proven']);
      await bench.identity.within(organization.id, (tx) =>
        tx.query(
          `UPDATE sso_connections SET ${column} = ${column} || 'x' WHERE organization_id = $1 AND id = $2`,
          [organization.id, connection.id],
        ),
      );
      await later(0);
      expect(await statuses(connection)).toEqual(['failing']);
    },
  );

  it('takes turns by tenant, in however many organizations one of them has domains', async () => {
    const [parent, single] = [
      await bench.connection(provider.issuer),
      await bench.connection(provider.issuer),
    ];
    const { database } = bench.identity;
    const children = Array.from({ length: 12 }, () => newId());
    const copied = (table: string, changes: string) =>
      database.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(own, jsonb_build_object('organization_id', child, ${changes}))).*
           FROM ${table} AS own, unnest($2::uuid[]) AS child WHERE own.organization_id = $1`,
        [parent.organization.id, children],
      );
    await copied(
      'organizations',
      `'id', child, 'parent_id', own.id, 'path', own.path || child, 'slug', 'child-' || child`,
    );
    await copied('sso_connections', `'id', child`);
    await copied(
      'sso_domains',
      `'connection_id', child, 'domain', child || '.example.com', 'next_check_at', now() - interval '1 hour'`,
    );
    await database.query(
      `UPDATE sso_domains SET next_check_at = now() - interval '1 second' WHERE connection_id = $1`,
      [single.id],
    );
    const due = await bench.identity.app.app.get(DomainRecheck, { strict: false })['next']();
    expect(due).toHaveLength(10);
    expect(due).toContain(single.domain);
    await database.query('DELETE FROM sso_domains WHERE connection_id = ANY($1::uuid[])', [children]);
  });

  it('takes a proof as the release before had it for as long as the provider is the same', async () => {
    const connection = await bench.connection(provider.issuer);
    const [claim] = await bench.identity.database.query<{ names_provider: boolean }>(
      `UPDATE sso_domains SET names_provider = false WHERE connection_id = $1 RETURNING names_provider`,
      [connection.id],
    );
    expect(claim).toBeDefined();
    await later(25);
    expect(await statuses(connection)).toEqual(['proven']);
    const [named] = await bench.identity.database.query<{ names_provider: boolean }>(
      'SELECT names_provider FROM sso_domains WHERE connection_id = $1',
      [connection.id],
    );
    expect(named).toEqual({ names_provider: true });
  });

  it('tells of each change of it once, in the audit log and by an event', async () => {
    const connection = await bench.connection(provider.issuer);
    await withdraw(connection);
    const { updated_at: before } = await read(connection);
    await later(25);
    await later(25);
    const rows = await bench.identity.database.query<{ action: string; changed_fields: string[] }>(
      `SELECT action, changed_fields FROM audit_entries WHERE resource_id = $1 AND actor_type = 'system'`,
      [connection.id],
    );
    expect(rows).toEqual([{ action: 'identity.sso.verify', changed_fields: ['domain_proofs'] }]);
    expect((await read(connection)).updated_at).not.toBe(before);
  });
});
