import { runFakeService } from './fake-service.ts';

runFakeService('ingest');
