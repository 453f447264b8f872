import { END_WITHIN_MS, START_WITHIN_MS } from '@customer-platform/testing';
import { jest } from '@jest/globals';
import './client.suite.js';
import './erasure.suite.js';
import './impersonation.suite.js';
import './merge.suite.js';
import './new-user.suite.js';
import './purge.suite.js';
import './sender.suite.js';
import { startSharedPlatform, stopSharedPlatform } from './shared-platform.fixture.js';

jest.setTimeout(180_000);

/** Each suite makes organizations of its own and leaves the platform as it was: one is started for all of them. */
beforeAll(startSharedPlatform, START_WITHIN_MS);
afterAll(stopSharedPlatform, END_WITHIN_MS);
