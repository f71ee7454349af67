import { runFakeService } from './fake-service.ts';

runFakeService('projection');
