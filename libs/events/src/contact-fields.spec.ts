import { contactSnapshot } from './core.events.js';
import { SHARED_CONTACT_NAMES, sharedFieldsOf } from './contact-fields.js';

describe('the fields of a contact that others are told of', () => {
  it('are null where an older release does not tell them, and no others where a newer one tells more', () => {
    const told = { email: 'ana@example.com', first_name: null, nickname: 'Anita' };
    const fields = sharedFieldsOf(told);
    expect(Object.keys(fields)).toEqual(SHARED_CONTACT_NAMES);
    expect(fields).toMatchObject({ email: 'ana@example.com', first_name: null, country: null });
  });

  it('are what a snapshot tells beside its id, its attributes and its state', () => {
    const names = Object.keys(contactSnapshot.shape);
    expect(names).toEqual(['id', ...SHARED_CONTACT_NAMES, 'attributes', 'state']);
  });
});
