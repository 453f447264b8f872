import { ProblemError } from '@customer-platform/client';
import { isAtFields, problemAt, problemsAt } from './problem-at.ts';

function refusal(...errors: { pointer?: string; code: string; detail?: string }[]): ProblemError {
  const text = JSON.stringify({ code: 'validation_failed', title: 'Refused', errors });
  return new ProblemError({ method: 'POST', path: '/x' }, { status: 400, headers: new Headers(), text }, 0);
}

describe('what a refusal says of a field', () => {
  it('is found at the field, and at what is inside it', () => {
    const error = refusal({ pointer: '/events/3', code: 'invalid_enum', detail: 'No such event.' });
    expect(problemAt(error, '/events', true)).toEqual({ code: 'invalid_enum', detail: 'No such event.' });
    expect(problemAt(error, '/events')).toBeUndefined();
    expect(problemAt(error, '/event', true)).toBeUndefined();
  });

  it('is its code where it says no more', () => {
    const error = refusal({ pointer: '/name', code: 'required' });
    expect(problemAt(error, '/name')).toEqual({ code: 'required', detail: undefined });
    expect(problemsAt(error)).toEqual({ '/name': { code: 'required', detail: undefined } });
  });

  it('stands at the fields of the form, or above them', () => {
    const error = refusal({ pointer: '/name', code: 'required' }, { pointer: '/role_id', code: 'required' });
    expect(isAtFields(error, ['/name', '/role_id'])).toBe(true);
    expect(isAtFields(error, ['/name'])).toBe(false);
    expect(isAtFields(refusal(), ['/name'])).toBe(false);
    expect(isAtFields(new Error('offline'), ['/name'])).toBe(false);
  });
});
