import type { Schemas } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import type { Reading } from '../ui/use-edit.tsx';
import { changeOf } from './definition-draft.ts';
import {
  definitionOf,
  nameOfRecord,
  type ObjectDefinition,
  type ObjectRecord,
  type Values,
} from './object.ts';

/** While an index is being built its progress is read so often. */
const BUILDING_MS = 1_500;
const READ_EVERY_MS = 30_000;
/** As many as an organization can have. */
const MOST_DEFINITIONS = 50;
const NAMES_STAND_MS = 60_000;
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

/** Writes of the API take fields and values by schemas of their own; the forms hold them to these. */
type DefinitionBody = Partial<Pick<Schemas['CreateObjectDefinitionDto'], 'name' | 'fields'>>;

const isBuilding = ({ fields }: Pick<ObjectDefinition, 'fields'>): boolean =>
  fields.some(({ index_state: state }) => state === 'building');

const reading = ({ data, etag }: Reading<Schemas['ObjectDefinitionDto']>): Reading<ObjectDefinition> => ({
  data: definitionOf(data),
  etag,
});

/** Reads and writes one definition. */
export function useDefinitionApi(id: string) {
  const api = useApi();
  const params = { path: { id } };
  return {
    read: async (signal?: AbortSignal) =>
      reading(
        await api.GET('/v1/crm/object-definitions/{id}', {
          params,
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    write: async (body: ReturnType<typeof changeOf>, ifMatch: string | undefined) =>
      reading(
        await api.PATCH('/v1/crm/object-definitions/{id}', { params, body: body as DefinitionBody, ifMatch }),
      ),
  };
}

export function useDefinition(id: string) {
  const { read } = useDefinitionApi(id);
  return useOwnQuery({
    queryKey: ['objects', 'definition', id],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isBuilding(state.data.data) ? BUILDING_MS : READ_EVERY_MS,
  });
}

/** By its slug, as addresses name it, or by its id, by which one that is deleted is found, too. */
export function useNamedDefinition(named: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['objects', 'named', named],
    queryFn: async ({ signal }): Promise<ObjectDefinition | null> => {
      if (ID.test(named)) {
        const params = { path: { id: named } };
        return definitionOf((await api.GET('/v1/crm/object-definitions/{id}', { params, signal })).data);
      }
      const params = { query: { slug: named, limit: 1 } };
      const [found] = (await api.GET('/v1/crm/object-definitions', { params, signal })).data.data;
      return found === undefined ? null : definitionOf(found);
    },
    refetchInterval: ({ state }) =>
      state.data != null && isBuilding(state.data) ? BUILDING_MS : READ_EVERY_MS,
  });
}

/** All that there are, for who may see them. */
export function useDefinitions() {
  const api = useApi();
  const may = useMay();
  return useOwnQuery({
    queryKey: ['objects', 'definitions'],
    enabled: may('crm.objects.read'),
    queryFn: async ({ signal }) => {
      const params = { query: { limit: MOST_DEFINITIONS, sort: 'name' as const } };
      return (await api.GET('/v1/crm/object-definitions', { params, signal })).data.data.map(definitionOf);
    },
  });
}

export const useObjectsChanged = (): (() => Promise<void>) => useReadAnew('objects');

/** Reads and writes one record of a definition, which its id names. */
export function useRecordApi(definition: string, id: string) {
  const api = useApi();
  const params = { path: { slug: definition, id } };
  return {
    read: (signal?: AbortSignal): Promise<Reading<ObjectRecord>> =>
      api.GET('/v1/crm/objects/{slug}/{id}', { params, ...(signal === undefined ? {} : { signal }) }),
    write: (values: Values, ifMatch: string | undefined): Promise<Reading<ObjectRecord>> =>
      api.PATCH('/v1/crm/objects/{slug}/{id}', { params, body: { values }, ifMatch }),
    remove: () => api.DELETE('/v1/crm/objects/{slug}/{id}', { params }),
    restore: () => api.POST('/v1/crm/objects/{slug}/{id}/restore', { params }),
    purge: () => api.DELETE('/v1/crm/objects/{slug}/{id}/purge', { params }),
  };
}

export function useRecord(definition: string, id: string) {
  const { read } = useRecordApi(definition, id);
  return useOwnQuery({
    queryKey: ['objects', 'record', definition, id],
    queryFn: ({ signal }) => read(signal),
  });
}

/** What a record that another refers to is called; a name stands for a while. */
export function useRecordName(target: string, id: string): string | undefined {
  const definitions = useDefinitions();
  const definition = definitions.data?.find((each) => each.id === target);
  const { read } = useRecordApi(target, id);
  const { data } = useOwnQuery({
    queryKey: ['objects', 'name', target, id],
    queryFn: ({ signal }) => read(signal),
    staleTime: NAMES_STAND_MS,
    retry: false,
  });
  return definition === undefined || data === undefined ? undefined : nameOfRecord(definition, data.data);
}
