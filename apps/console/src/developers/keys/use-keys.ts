import type { ItemOf } from '@customer-platform/client';
import { useReadAnew } from '../../ui/queries.ts';

export type ApiKey = ItemOf<'/v1/identity/api-keys'>;

/** Reads the list of keys anew, whatever filters it. */
export const useKeysChanged = (): (() => Promise<void>) => useReadAnew('api-keys');
