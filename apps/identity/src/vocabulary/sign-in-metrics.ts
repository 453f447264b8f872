import { metrics } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Counter } from 'prom-client';

/** What somebody has to get right to be signed in; `session` is the end of it. */
type SignInStep = 'password' | 'sso' | 'factor' | 'recovery_code' | 'session';

/** Wrong is what the person has not shown; refused what the platform does not let do; failed what it could not do. */
type SignInOutcome = 'passed' | 'wrong' | 'refused' | 'failed';

const STEPS: readonly SignInStep[] = ['password', 'sso', 'factor', 'recovery_code', 'session'];

/** Of no tenant: a label for each would make thousands of series. */
const signIns = new Counter({
  name: 'sign_ins_total',
  help: 'Steps of sign-ins by how they ended: passed, wrong, refused (a limit, a rule), failed (a fault of the platform)',
  labelNames: ['step', 'outcome'] as const,
  registers: [metrics],
});
// There from the start, so that a rate is known from the first one on.
for (const step of STEPS) for (const outcome of ['passed', 'failed'] as const) note(step, outcome, 0);

/** Sign-ins by providers of organizations that came to nothing. */
export const ssoRefusals = new Counter<'reason'>({
  name: 'sso_refusals_total',
  help: 'Sign-ins by SSO connections that came to nothing, by reason',
  labelNames: ['reason'],
  registers: [metrics],
});
ssoRefusals.inc({ reason: 'provider_unavailable' }, 0);

/** Counts how a step ends; `undefined` is a wrong password or code. */
export async function counted<T>(
  step: SignInStep,
  work: Promise<T>,
  isRefusal: (error: unknown) => boolean = isProblemOfCaller,
): Promise<T> {
  try {
    const result = await work;
    note(step, result === undefined ? 'wrong' : 'passed');
    return result;
  } catch (error) {
    note(step, isRefusal(error) ? 'refused' : 'failed');
    throw error;
  }
}

function note(step: SignInStep, outcome: SignInOutcome, by = 1): void {
  signIns.inc({ step, outcome }, by);
}

function isProblemOfCaller(error: unknown): boolean {
  return error instanceof Problem && error.status < 500;
}
