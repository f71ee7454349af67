import { keepTimesCurrent } from './page.ts';

keepTimesCurrent();
