import type { FurtherPlaces } from '@customer-platform/cli';
import type { Installation } from '@customer-platform/database';
import { BucketStore } from '../imports/files/bucket-store.js';
import { configuredStore } from '../imports/files/import-files.js';
import { RedisLimitStore } from '../ingestion/rate-limits/redis-limit-store.js';

/** The places besides its topics that core shares with nobody, as its variables say. */
export function markedPlaces(installation: Installation): FurtherPlaces {
  const redis = RedisLimitStore.configured(installation);
  const files = configuredStore(installation);
  return {
    places: [...(redis ? [redis] : []), ...(files instanceof BucketStore ? [files.place] : [])],
    close: async () => redis?.close(),
  };
}

/** The variables that lead there. */
export const MARKED_PLACES_ENVIRONMENT = {
  REDIS_URL: 'where limits are shared, if they are there',
  IMPORT_STORAGE: 'and the other variables of the files of imports',
};
