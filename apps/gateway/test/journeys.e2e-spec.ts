import './client.suite.js';
import './erasure.suite.js';
import './impersonation.suite.js';
import './merge.suite.js';
import './new-user.suite.js';
import './purge.suite.js';
import './sender.suite.js';
import { startSharedPlatform, stopSharedPlatform } from './shared-platform.fixture.js';

/** Each suite makes organizations of its own and leaves the platform as it was: one is started for all of them. */
beforeAll(startSharedPlatform);
afterAll(stopSharedPlatform);
