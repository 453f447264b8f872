import type { Resource } from '../resource.ts';

/** The entry of the resource's table among those of its module: what staff writes, and says of no contact. */
export function tenantTableEntry({ table, plural, singular, fields }: Resource): string {
  return `${table}: {
    kept: { '${plural}/${singular}.dto.ts: what staff wrote': '${fields.map(({ name }) => name).join(' ')}' },
    technical: {
      '${plural}/${singular}.entity.ts: the row and its times': 'id created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  }`;
}
