import { IsUUID, validateBody } from '../index.js';

describe('IsUUID', () => {
  it('takes an id of any version, or of none, in either case, as paths and filters do', async () => {
    class NamingDto {
      @IsUUID()
      id: string;

      @IsUUID({ each: true })
      ids: string[];
    }
    const id = '01234567-89AB-CDEF-0123-456789ABCDEF';
    const lower = id.toLowerCase();
    await expect(validateBody(NamingDto, { id, ids: [id] })).resolves.toEqual({ id: lower, ids: [lower] });
    for (const none of [`{${id}}`, id.replaceAll('-', ''), `${id}\n`, 7, null]) {
      await expect(validateBody(NamingDto, { id: none, ids: [id, none] })).rejects.toMatchObject({
        errors: [
          { pointer: '/id', code: 'invalid_format', detail: '`id` must be a UUID.' },
          { pointer: '/ids', code: 'invalid_format', detail: 'each value in ids must be a UUID.' },
        ],
      });
    }
  });
});
