import type { FurtherPlaces } from '@customer-platform/cli';
import type { Installation } from '@customer-platform/database';
import { configuredStore } from '../imports/files/import-files.js';
import { configuredRedis } from '../ingestion/rate-limits/configured-redis.js';

/** The places besides its topics that core shares with nobody, as its variables say. */
export async function markedPlaces(installation: Installation): Promise<FurtherPlaces> {
  const redis = await configuredRedis(installation);
  const { place: bucket } = await configuredStore(installation);
  return {
    places: [...(redis ? [redis] : []), ...(bucket ? [bucket] : [])],
    close: async () => redis?.close(),
  };
}

/** The variables that lead there. */
export const MARKED_PLACES_ENVIRONMENT = {
  REDIS_URL: 'where limits are shared, if they are there',
  IMPORT_STORAGE: 'and the other variables of the files of imports',
};
