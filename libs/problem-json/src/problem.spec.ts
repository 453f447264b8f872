import {
  FieldErrors,
  isProblemCode,
  Problem,
  problemIndexPage,
  problemPage,
  PROBLEMS,
  type FieldError,
  type ProblemCode,
} from './index.js';

const where = { instance: '/v1/core/contacts', correlationId: '00000000-0000-4000-8000-000000000001' };
const codes = Object.keys(PROBLEMS) as ProblemCode[];

describe('the registry of problems', () => {
  it.each(codes)('%s has a status of an error, a title, a meaning and a remedy', (code) => {
    const { status, title, meaning, remedy } = PROBLEMS[code];
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    for (const text of [title, meaning, remedy]) expect(text.length).toBeGreaterThan(3);
  });

  it('gives each code one cause', () => {
    expect(new Set(codes.map((code) => PROBLEMS[code].meaning)).size).toBe(codes.length);
  });

  it('keeps the statuses of the contract', () => {
    expect(PROBLEMS.unknown_parameter.status).toBe(400);
    expect(PROBLEMS.token_expired.status).toBe(401);
    expect(PROBLEMS.mfa_required.status).toBe(403);
    expect(PROBLEMS.restore_conflict.status).toBe(409);
    expect(PROBLEMS.etag_mismatch.status).toBe(412);
    expect(PROBLEMS.recipient_suppressed.status).toBe(422);
    expect(PROBLEMS.queue_unavailable.status).toBe(503);
    expect(PROBLEMS.upstream_timeout.status).toBe(504);
  });

  it('knows a code from a name that every object has', () => {
    expect(isProblemCode('not_found')).toBe(true);
    expect(isProblemCode('constructor')).toBe(false);
  });
});

describe('Problem', () => {
  it('becomes a body with the members of the contract', () => {
    const problem = new Problem('resource_referenced', { members: { references: [{ count: 2 }] } });
    expect(problem.toBody(where)).toEqual({
      type: '/problems/resource_referenced',
      title: 'Still referenced',
      status: 409,
      detail: 'Something still references the resource.',
      instance: where.instance,
      code: 'resource_referenced',
      correlation_id: where.correlationId,
      references: [{ count: 2 }],
    });
  });

  it('keeps the cause for the log and out of the body', () => {
    const problem = new Problem('internal_error', { cause: new Error('SELECT secret') });
    expect(problem.cause).toEqual(new Error('SELECT secret'));
    expect(JSON.stringify(problem.toBody(where))).not.toContain('SELECT');
  });

  it.each(codes.filter((code) => PROBLEMS[code].status === 401))('%s challenges', (code) => {
    expect(new Problem(code).headers['WWW-Authenticate']).toMatch(/^(Bearer|Signature) realm=/);
  });

  it.each(codes.filter((code) => PROBLEMS[code].status === 503))('%s says when to come back', (code) => {
    expect(new Problem(code).headers['Retry-After']).toBe('1');
    expect(new Problem(code, { headers: { 'Retry-After': '30' } }).headers['Retry-After']).toBe('30');
  });
});

describe('Problem.validation', () => {
  const placeholder = { pointer: '/external_id', code: 'placeholder_identifier', detail: 'No.' } as const;
  const tooLong = { pointer: '/event', code: 'too_long', detail: 'Too long.' } as const;

  it('takes the published code that all errors share', () => {
    expect(Problem.validation([placeholder, { ...placeholder, pointer: '/x' }]).code).toBe(
      'placeholder_identifier',
    );
  });

  it('is validation_failed when they differ, or when theirs is a code of fields only', () => {
    expect(Problem.validation([placeholder, tooLong]).code).toBe('validation_failed');
    expect(Problem.validation([tooLong]).code).toBe('validation_failed');
  });

  it('carries every error and their number', () => {
    const body = Problem.validation([placeholder, tooLong]).toBody(where);
    expect(body).toMatchObject({ errors: [placeholder, tooLong], errors_total: 2 });
  });

  const many = (count: number, error: FieldError): FieldError[] =>
    Array.from({ length: count }, (_, index) => ({ ...error, pointer: `/${index}` }));

  it('names 20 of any more and counts them all', () => {
    const body = Problem.validation(many(5_000, tooLong)).toBody(where);
    expect(body.errors).toEqual(many(20, tooLong));
    expect(body).toMatchObject({
      errors_total: 5_000,
      detail: '5000 values were refused; see `errors`.',
    });
  });

  it('takes the code that all share, the unnamed among them', () => {
    const same = new FieldErrors(many(30, placeholder));
    expect(Problem.validation(same).code).toBe('placeholder_identifier');
    const other = new FieldErrors([...many(50, placeholder), tooLong]);
    expect(other.total).toBe(51);
    expect(Problem.validation(other).code).toBe('validation_failed');
    same.count('too_long');
    expect(Problem.validation(same).code).toBe('validation_failed');
  });

  it('repeats no name at any length, nor half of a character', () => {
    const pointer = `/${'\u{1f600}'.repeat(50_000)}`;
    const [error] = Problem.validation([{ ...tooLong, pointer }]).errors ?? [];
    expect(error?.pointer?.length).toBeLessThan(210);
    expect(error?.pointer?.isWellFormed()).toBe(true);
    const parameter = 'x'.repeat(5_000);
    const [named] =
      Problem.validation([{ parameter, code: 'unknown_parameter', detail: 'No.' }]).errors ?? [];
    expect(named?.parameter).toBe(`${'x'.repeat(200)}…`);
  });
});

describe('problem pages', () => {
  it.each(codes)('there is a page about %s', (code) => {
    const page = problemPage(code);
    expect(page).toContain(`<code>${code}</code>`);
    expect(page).toContain(`HTTP ${PROBLEMS[code].status}`);
  });

  it('an unknown code gets a page that repeats nothing of it', () => {
    const page = problemPage('<script>alert(1)</script>');
    expect(page).toContain('There is no such code');
    expect(page).not.toContain('script');
  });

  it('the index links every code', () => {
    const page = problemIndexPage();
    for (const code of codes) expect(page).toContain(`href="/problems/${code}"`);
  });
});
