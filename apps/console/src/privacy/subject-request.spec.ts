import { actsOf, bodyOf, nextOf, requestsQuery, type SubjectRequest } from './subject-request.ts';

const NOW = '2026-11-23T10:00:00.000Z';
const MODULES = ['core', 'crm', 'loyalty', 'messaging'] as const;

const REQUEST: SubjectRequest = {
  id: '01a2074e-df76-74aa-8a69-2190be04d175',
  type: 'erasure',
  state: 'in_progress',
  contact_id: '01a2074e-df76-74aa-8a69-2190be04d176',
  jurisdiction: 'CL',
  received_at: NOW,
  due_at: '2026-12-24T02:59:59.999Z',
  overdue: false,
  verification: { method: 'clave_unica', reference: null, verified_at: NOW },
  extension: null,
  rejection: null,
  note: null,
  corrections: null,
  purposes: null,
  outcome: null,
  result: null,
  receipts: MODULES.map((module) => ({ module, state: 'verified', counts: {}, signature: 'a.b.c' })),
  completed_at: null,
  residual_until: null,
  created_at: NOW,
  updated_at: NOW,
};

describe('the list of requests', () => {
  it('shows those that somebody waits for, what is due first at the top', () => {
    expect(requestsQuery({}, NOW)).toEqual({ 'state[in]': ['verifying', 'in_progress'], sort: 'due_at' });
    expect(requestsQuery({ closed: true }, NOW)).toEqual({ sort: 'due_at' });
    expect(requestsQuery({ state: 'rejected' }, NOW)).toEqual({ state: 'rejected', sort: 'due_at' });
  });

  it('takes for overdue only what is open, whatever else is asked for', () => {
    const overdue = { 'state[in]': ['verifying', 'in_progress'], 'due_at[lt]': NOW };
    expect(requestsQuery({ overdue: true, closed: true }, NOW)).toMatchObject(overdue);
    expect(requestsQuery({ overdue: true, state: 'completed' }, NOW)).toMatchObject({
      state: 'completed',
      ...overdue,
    });
  });
});

describe('what comes next', () => {
  const next = (changed: Partial<SubjectRequest>) => nextOf({ ...REQUEST, ...changed }, new Date(NOW));
  const receipts = REQUEST.receipts.map((each) =>
    each.module === 'crm' ? { ...each, state: 'pending' as const } : each,
  );

  it('is the verification, then the modules that have not answered, then the end', () => {
    expect(next({ state: 'verifying', receipts: [] }).step).toBe('verify');
    expect(next({ receipts })).toEqual({ step: 'erase', modules: ['crm'] });
    expect(next({ state: 'completed', residual_until: '2026-11-30T10:00:00.000Z' }).step).toBe('residual');
    expect(next({ state: 'completed', residual_until: NOW }).step).toBe('completed');
    expect(next({ state: 'rejected' }).step).toBe('rejected');
  });

  it('names the module whose receipt was refused before those that are silent', () => {
    const refused = receipts.map((each) =>
      each.module === 'loyalty' ? { ...each, state: 'refused' as const } : each,
    );
    expect(next({ receipts: refused })).toEqual({ step: 'refused', modules: ['loyalty'] });
  });

  it('is the gathering where nothing is erased, then the file while it is there', () => {
    const access: Partial<SubjectRequest> = { type: 'access', receipts: [] };
    expect(next(access).step).toBe('gather');
    const result = { sha256: 'f', bytes: 1, expires_at: '2026-12-23T10:00:00.000Z' };
    expect(next({ ...access, state: 'completed', result }).step).toBe('hand_over');
    const expired = { ...result, expires_at: NOW };
    expect(next({ ...access, state: 'completed', result: expired }).step).toBe('completed');
  });
});

describe('what one may do', () => {
  it('ends with the request; it is extended once', () => {
    const none = { verify: false, complete: false, extend: false, reject: false };
    expect(actsOf({ ...REQUEST, state: 'verifying' })).toEqual({
      ...none,
      verify: true,
      extend: true,
      reject: true,
    });
    const extension = { reason: 'Holidays', extended_at: NOW };
    expect(actsOf({ ...REQUEST, extension })).toEqual(none);
    expect(actsOf({ ...REQUEST, state: 'completed' }).extend).toBe(false);
  });

  it('is to complete what staff carries out, or to reject it still', () => {
    const blocking: SubjectRequest = { ...REQUEST, type: 'blocking', receipts: [] };
    expect(actsOf(blocking)).toMatchObject({ verify: false, complete: true, reject: true });
    expect(nextOf(blocking, new Date(NOW)).step).toBe('carry_out');
    expect(actsOf({ ...blocking, state: 'completed' }).complete).toBe(false);
  });
});

describe('a new request', () => {
  const draft = {
    type: 'erasure',
    by: 'contact',
    contact: REQUEST.contact_id,
    identityType: 'email',
    identityValue: ' ana@example.com ',
    received: '',
    locale: 'en',
    corrections: ' last_name: Núñez \n\nattributes.link: https://a.example\nphone:\n',
    purposes: 'marketing\n profiling ',
    note: ' ',
    method: '',
  } as const;

  it('names the person by one of the two, and nothing that was not written', () => {
    expect(bodyOf(draft)).toEqual({ type: 'erasure', contact_id: REQUEST.contact_id });
    expect(bodyOf({ ...draft, by: 'identity', received: NOW, note: 'By post' })).toEqual({
      type: 'erasure',
      identity: { type: 'email', value: 'ana@example.com' },
      received_at: NOW,
      note: 'By post',
    });
  });

  it('says how the person was verified, where somebody is chosen who was', () => {
    expect(bodyOf({ ...draft, method: ' in_person ' })).toEqual({
      type: 'erasure',
      contact_id: REQUEST.contact_id,
      verification: { method: 'in_person' },
    });
    expect(bodyOf({ ...draft, by: 'identity', method: 'in_person' })).not.toHaveProperty('verification');
    expect(bodyOf({ ...draft, method: '  ' })).not.toHaveProperty('verification');
  });

  it('says what to correct, and what is objected to, line by line', () => {
    expect(bodyOf({ ...draft, type: 'rectification' })).toEqual({
      type: 'rectification',
      contact_id: REQUEST.contact_id,
      corrections: [
        { field: 'last_name', value: 'Núñez' },
        { field: 'attributes.link', value: 'https://a.example' },
        { field: 'phone', value: null },
      ],
    });
    expect(bodyOf({ ...draft, type: 'opposition' })).toMatchObject({ purposes: ['marketing', 'profiling'] });
  });

  it('says the language of an archive alone', () => {
    expect(bodyOf({ ...draft, type: 'access' })).toMatchObject({ locale: 'en' });
    expect(bodyOf({ ...draft, type: 'access', locale: '' })).not.toHaveProperty('locale');
  });
});
