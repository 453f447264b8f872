import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { newId } from '@customer-platform/database';
import type { EventType } from '@customer-platform/events';
import {
  addLetter,
  domainEvent,
  eventually,
  expectStatus,
  type Caller,
  type InternalAnswer,
} from '@customer-platform/testing';
import { CompactSign } from 'jose';
import { ContactWorld } from '../people/contacts/contact.fixture.js';
import { ReceiptsConsumer } from './erasure/receipts.consumer.js';
import type { SubjectRequestDto } from './subject-request.dto.js';

/** The collection. */
export const REQUESTS = '/v1/core/subject-requests';

/** The modules that answer beside core. */
export const OTHERS = ['crm', 'loyalty', 'messaging'] as const;
type Other = (typeof OTHERS)[number];

const NO_ROWS = { resource: null, rows: [], next: null };

/** A verification that is right. */
export const VERIFICATION = { method: 'clave_unica', reference: 'case 4711' };

const FENCED = `
  SELECT FROM contact_erasures WHERE subject_request_id = $1 AND step = 'fence' AND fence IS NOT NULL`;

/** Core between modules that sign receipts of erasures, as far as a spec tells them to. */
export class ErasureWorld {
  private constructor(
    readonly contacts: ContactWorld,
    private readonly keys: ReadonlyMap<Other, { kid: string; privateKey: KeyObject }>,
    /** What a module answers of the rows of a person; nothing unless told. */
    readonly rows: Map<Other, InternalAnswer>,
  ) {}

  static async start(): Promise<ErasureWorld> {
    const pairs = new Map(
      OTHERS.map((module) => [
        module,
        { kid: newId(), ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
      ]),
    );
    const rows = new Map<Other, InternalAnswer>();
    const contacts = await ContactWorld.start((module) => ({
      'POST /internal/subject-rows': (body) => rows.get(module)?.(body) ?? NO_ROWS,
      'GET /internal/erasure/keys': () => {
        const pair = pairs.get(module);
        return { keys: [{ ...pair?.publicKey.export({ format: 'jwk' }), kid: pair?.kid, alg: 'ES256' }] };
      },
    }));
    return new ErasureWorld(contacts, pairs, rows);
  }

  /** Opens a request to erase; without words of another, verified. */
  async erase(caller: Caller, body: Record<string, unknown>): Promise<SubjectRequestDto> {
    const answer = await caller.post<SubjectRequestDto>(REQUESTS, {
      type: 'erasure',
      verification: VERIFICATION,
      ...body,
    });
    expectStatus(answer, 202);
    return answer.body;
  }

  async read(caller: Caller, { id }: { id: string }): Promise<SubjectRequestDto> {
    const answer = await caller.get<SubjectRequestDto>(`${REQUESTS}/${id}`);
    expectStatus(answer, 200);
    return answer.body;
  }

  /** Waits until core has done its part. */
  doneByCore(caller: Caller, request: { id: string }): Promise<SubjectRequestDto> {
    return eventually(
      async () => {
        const now = await this.read(caller, request);
        expect(now.receipts.find(({ module }) => module === 'core')?.state).toBe('verified');
        return now;
      },
      { within: 30_000 },
    );
  }

  /** Keeps an event as a dead letter, an identify if it has traits. @returns the letter's id */
  letter(organizationId: string, body: unknown, externalId: string | null = null): Promise<string> {
    const query = (sql: string, values: unknown[]) => this.contacts.query(sql, values);
    return addLetter(query, organizationId, body, externalId);
  }

  /** Waits until the first round of the request's steps is through, and the second may begin. */
  async beforeRoundTwo({ id }: { id: string }): Promise<void> {
    await eventually(
      async () => {
        const rows = await this.contacts.query(FENCED, [id]);
        expect(rows).toHaveLength(1);
      },
      { within: 30_000 },
    );
  }

  /** Waits until the request has come to this state. */
  inState(caller: Caller, request: { id: string }, state: string): Promise<SubjectRequestDto> {
    return eventually(
      async () => {
        const now = await this.read(caller, request);
        expect(now.state).toBe(state);
        return now;
      },
      { within: 30_000 },
    );
  }

  /** The receipt of a module, signed by its key unless by another's. */
  async receipt(
    organizationId: string,
    requestId: string,
    module: Other,
    { signedBy = module, counts = { notes: 1 } }: { signedBy?: Other; counts?: Record<string, number> } = {},
  ): Promise<string> {
    const key = this.keys.get(signedBy);
    if (!key) throw new TypeError('There is no such key');
    const content = {
      module,
      organization_id: organizationId,
      subject_request_id: requestId,
      counts,
      completed_at: new Date().toISOString(),
    };
    return new CompactSign(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'ES256', kid: this.keys.get(module)?.kid ?? '', typ: 'erasure-receipt+jws' })
      .sign(key.privateKey);
  }

  /** Tells core what a module answered. */
  async tell(organizationId: string, requestId: string, module: Other, receipt: string): Promise<void> {
    const type = `${module}.erasure.completed.v1` satisfies EventType;
    const data = { subject_request_id: requestId, counts: { notes: 1 }, receipt };
    await this.contacts.core.app.app
      .get(ReceiptsConsumer)
      .take([domainEvent(type as 'crm.erasure.completed.v1', organizationId, data)]);
  }

  /** Tells core that all modules have done their part. */
  async answerAll(organizationId: string, requestId: string): Promise<void> {
    for (const module of OTHERS) {
      await this.tell(
        organizationId,
        requestId,
        module,
        await this.receipt(organizationId, requestId, module),
      );
    }
  }

  close(): Promise<void> {
    return this.contacts.close();
  }
}
